// What a graph knows of an op: its arity, its shape rule and its gradient. An op family
// registers its ops beside the functions that users call (`estimator/ops/<family>.cc`).
#ifndef ESTIMATOR_GRAPH_OP_REGISTRY_H_
#define ESTIMATOR_GRAPH_OP_REGISTRY_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/array/attrs.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/graph/node.h"

namespace estimator {

// What a shape rule sees.
struct ShapeContext {
  const std::vector<Tensor>& inputs;
  const Attrs& attrs;

  const TensorSpec& input(int i) const { return inputs[static_cast<size_t>(i)].spec(); }
  int num_inputs() const { return static_cast<int>(inputs.size()); }
  // The value of an input that must be known when the graph is built (axes, a shape, paddings),
  // as int64 values whatever its integer dtype.
  // Errors: INVALID_ARGUMENT if it depends on a placeholder, a variable or a random op: such a
  // shape would be dynamic.
  absl::StatusOr<std::vector<int64_t>> ConstantInts(int i) const;
};

// Returns the spec of every output. Errors: INVALID_ARGUMENT with both values; the graph adds op
// name, node name and input types.
using ShapeFn = std::function<absl::StatusOr<std::vector<TensorSpec>>(const ShapeContext&)>;

// grads: one per output of `node`; invalid where nothing depends on that output.
// Returns one per input; an invalid Tensor means "no gradient flows".
using GradientFn =
    std::function<std::vector<Tensor>(const Node& node, const std::vector<Tensor>& grads)>;

struct OpDef {
  std::string name;
  // -1: any number of inputs.
  int num_inputs = 0;
  ShapeFn shape;
  // Null: Gradients() through this op is an error (unless not_differentiable).
  GradientFn gradient = nullptr;
  // No gradient flows through it, silently, as in TensorFlow (ArgMax, Equal, Shape).
  bool not_differentiable = false;
  // Two equal nodes are not the same value, and it is never folded (random ops, placeholders).
  bool stateful = false;
};

// EST_REGISTER_OP({.name = "Relu", .num_inputs = 1, .shape = SameShape, .gradient = ReluGradient});
// The library needs alwayslink = True. REQUIRES: the name is new.
bool RegisterOp(OpDef def);
const OpDef* FindOp(absl::string_view name);
std::vector<std::string> RegisteredOps();  // sorted

#define EST_REGISTER_OP(...) EST_REGISTER_OP_AT(__COUNTER__, __VA_ARGS__)
#define EST_REGISTER_OP_AT(counter, ...) EST_REGISTER_OP_AT2(counter, __VA_ARGS__)
#define EST_REGISTER_OP_AT2(counter, ...) \
  [[maybe_unused]] static const bool op_registered_##counter = ::estimator::RegisterOp(__VA_ARGS__)

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_OP_REGISTRY_H_
