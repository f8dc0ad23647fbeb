#include "estimator/nn/layers/layer.h"

#include "estimator/base/status.h"
#include "estimator/nn/initializers.h"
#include "estimator/ops/bias.h"
#include "estimator/ops/math_unary.h"

namespace estimator::layers {

LayerScope::LayerScope(StringArg name, StringArg default_name)
    : scope_(name.empty() ? VariableScope::UniqueDefaultName(default_name) : std::string(name)) {}

Tensor InvalidLike(const Tensor& x) {
  return Tensor(x.graph() != nullptr ? x.graph() : &Graph::Current(), nullptr, 0);
}

bool CheckRank(const Tensor& x, StringArg layer, int min_rank, int max_rank) {
  if (!x.valid()) {
    if (x.graph() == nullptr) {
      Graph::Current().Fail(
          InvalidArgument(layer, ": the input is not a tensor (a default-constructed handle)"));
    }
    return false;
  }
  if (x.rank() >= min_rank && x.rank() <= max_rank) return true;
  x.graph()->Fail(
      InvalidArgument(layer, ": the input '", x.name(), "' is ", x.spec().ToString(),
                      ", but must have rank ", min_rank, min_rank == max_rank ? "" : " or more",
                      x.rank() < min_rank ? ": the first axis is the batch (Batch of the dataset); "
                                            "ExpandDims or Reshape adds one"
                                          : ""));
  return false;
}

bool CheckPositive(int64_t value, StringArg layer, StringArg what) {
  if (value > 0) return true;
  Graph::Current().Fail(
      InvalidArgument(layer, ": ", what, " must be given and positive, got ", value));
  return false;
}

bool CheckPositive(const Size2D& size, StringArg layer, StringArg what) {
  return CheckPositive(size.height, layer, what) && CheckPositive(size.width, layer, what);
}

Tensor GetWeight(StringArg name, const Shape& shape, const Tensor& x,
                 const Initializer& initializer, const Regularizer& regularizer, bool trainable) {
  const Variable variable =
      GetVariable(name, shape,
                  {.dtype = x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32,
                   .initializer = initializer,
                   .regularizer = regularizer,
                   .trainable = trainable});
  if (!variable.valid() || variable.dtype() == x.dtype()) return variable.read();
  return Cast(variable.read(), x.dtype());
}

Tensor AddBiasAndActivate(const Tensor& y, const BiasAndActivation& options) {
  Tensor result = y;
  if (options.use_bias && y.valid()) {
    const Initializer initializer =
        options.bias_initializer ? options.bias_initializer : initializers::Zeros();
    const Tensor bias =
        GetWeight("bias", {y.dim(-1)}, y, initializer, options.bias_regularizer, options.trainable);
    result = BiasAdd(y, bias);
  }
  return options.activation(result);
}

}  // namespace estimator::layers
