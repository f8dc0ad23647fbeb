// What the layers of this folder share: sizes, scopes, variables. Not for users.
#ifndef ESTIMATOR_NN_LAYERS_LAYER_H_
#define ESTIMATOR_NN_LAYERS_LAYER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "estimator/base/string_arg.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/activation.h"

namespace estimator::layers {

// A height and a width: {5, 3}, or 5 for both.
struct Size2D {
  int64_t height = 1;
  int64_t width = 1;
  constexpr Size2D(int64_t size) : height(size), width(size) {}  // NOLINT: as in Python
  constexpr Size2D(int64_t rows, int64_t columns) : height(rows), width(columns) {}
};

// A Size2D or nothing. std::optional<Size2D> does not convert from a pair such as {5, 3}.
struct OptionalSize2D : std::optional<Size2D> {
  using std::optional<Size2D>::optional;
  constexpr OptionalSize2D(int64_t size) : optional(size) {}  // NOLINT: as in Python
  constexpr OptionalSize2D(int64_t rows, int64_t columns) : optional(Size2D(rows, columns)) {}
};

// The scope of one layer: `name`, or the default name made unique (dense, dense_1, ...).
// Source: TF 2.15 legacy_tf_layers.base.Layer._set_scope.
class LayerScope {
 public:
  LayerScope(StringArg name, StringArg default_name);
  const std::string& prefix() const { return scope_.prefix(); }

 private:
  const VariableScope scope_;
};

// Whether x is valid and its rank is in [min_rank, max_rank]. If not, the graph keeps an error that
// begins with `layer`.
bool CheckRank(const Tensor& x, StringArg layer, int min_rank, int max_rank);
// Whether `value` is positive. If not, the graph keeps an error such as
// "dense: units must be given and positive, got 0".
bool CheckPositive(int64_t value, StringArg layer, StringArg what);
bool CheckPositive(const Size2D& size, StringArg layer, StringArg what);

// An invalid tensor in x's graph: the result of a layer that cannot be built.
Tensor InvalidLike(const Tensor& x);

// Creates a variable and returns its value in x's dtype. The variable is f64 if x is f64, else f32:
// weights keep f32 precision when the computation is in bf16.
Tensor GetWeight(StringArg name, const Shape& shape, const Tensor& x,
                 const Initializer& initializer, const Regularizer& regularizer, bool trainable);

// The arguments of AddBiasAndActivate, which adds the variable `bias` if use_bias, and then applies
// the activation.
struct BiasAndActivation {
  bool use_bias;
  const Initializer& bias_initializer;
  const Regularizer& bias_regularizer;
  bool trainable;
  const Activation& activation;
};
Tensor AddBiasAndActivate(const Tensor& y, const BiasAndActivation& options);

}  // namespace estimator::layers

#endif  // ESTIMATOR_NN_LAYERS_LAYER_H_
