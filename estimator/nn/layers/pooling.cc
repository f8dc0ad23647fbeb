#include "estimator/nn/layers/pooling.h"

#include "estimator/ops/pooling.h"

namespace estimator::layers {
namespace {

using PoolFn = Tensor (*)(const Tensor&, const PoolOptions&);

Tensor Pool(const Tensor& x, const Pooling2DOptions& options, absl::string_view layer,
            PoolFn pool) {
  const LayerScope scope(options.name, layer);
  const Size2D strides = options.strides.value_or(options.pool_size);
  if (!CheckRank(x, layer, 4, 4) || !CheckPositive(options.pool_size, layer, "pool_size") ||
      !CheckPositive(strides, layer, "strides")) {
    return InvalidLike(x);
  }
  PoolOptions op_options;
  op_options.ksize = {options.pool_size.height, options.pool_size.width};
  op_options.strides = {strides.height, strides.width};
  op_options.padding = options.padding;
  return pool(x, op_options);
}

}  // namespace

Tensor MaxPooling2D(const Tensor& x, const Pooling2DOptions& options) {
  return Pool(x, options, "max_pooling2d", MaxPool);
}

Tensor AveragePooling2D(const Tensor& x, const Pooling2DOptions& options) {
  return Pool(x, options, "average_pooling2d", AvgPool);
}

Tensor GlobalAveragePooling2D(const Tensor& x, StringArg name) {
  const LayerScope scope(name, "global_average_pooling2d");
  if (!CheckRank(x, "global_average_pooling2d", 4, 4)) return InvalidLike(x);
  return GlobalAvgPool(x);
}

}  // namespace estimator::layers
