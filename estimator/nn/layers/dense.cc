#include "estimator/nn/layers/dense.h"

#include "estimator/nn/layers/layer.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::layers {

Tensor Dense(const Tensor& x, const DenseOptions& options) {
  const LayerScope scope(options.name, "dense");
  if (!CheckRank(x, "dense", 2, 64) || !CheckPositive(options.units, "dense", "units"))
    return InvalidLike(x);
  const Tensor kernel =
      GetWeight("kernel", {x.dim(-1), options.units}, x, options.kernel_initializer,
                options.kernel_regularizer, options.trainable);
  const BiasAndActivation rest = {options.use_bias, options.bias_initializer,
                                  options.bias_regularizer, options.trainable, options.activation};
  if (x.rank() == 2) return AddBiasAndActivate(MatMul(x, kernel), rest);
  Shape result = x.shape();
  result.set_dim(-1, options.units);
  const Tensor rows = Reshape(x, Shape{-1, x.dim(-1)});
  return AddBiasAndActivate(Reshape(MatMul(rows, kernel), result), rest);
}

}  // namespace estimator::layers
