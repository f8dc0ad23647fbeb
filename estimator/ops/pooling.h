// Pools over images in NHWC layout.
#ifndef ESTIMATOR_OPS_POOLING_H_
#define ESTIMATOR_OPS_POOLING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "estimator/array/shape.h"
#include "estimator/graph/tensor.h"
#include "estimator/ops/padding.h"

namespace estimator {

struct PoolOptions {
  // One number for both axes, two numbers {rows, columns}, or four in NHWC order as in TensorFlow.
  std::vector<int64_t> ksize = {2, 2};
  std::vector<int64_t> strides = {2, 2};  // same forms as ksize
  Padding padding = Padding::kValid;
  std::string name = "";
};

// The maximum (MaxPool) or mean (AvgPool) of each window, per channel. Padding is not counted.
//   x: [N, H, W, C], floating.  Returns [N, P, Q, C].
// If several elements are the maximum, the gradient flows to the first of them, in row-major order.
// Errors: INVALID_ARGUMENT if the rank is not 4, or if a window does not fit.
// Source: TF 2.15 tf.nn.max_pool2d, tf.nn.avg_pool2d.
Tensor MaxPool(const Tensor& x, const PoolOptions& options = {});
Tensor AvgPool(const Tensor& x, const PoolOptions& options = {});

// TensorFlow's gradient ops, which the gradients of the two pools use.
//   x: the input of the pool.  y: its output.  grad: the gradient of y.  Returns x's shape.
Tensor MaxPoolGrad(const Tensor& x, const Tensor& y, const Tensor& grad,
                   const PoolOptions& options = {});
//   input: the shape of the pool's input.
Tensor AvgPoolGrad(const Shape& input, const Tensor& grad, const PoolOptions& options = {});

// The mean (GlobalAvgPool) or maximum (GlobalMaxPool) over all rows and columns, per channel.
//   x: [N, H, W, C].  Returns [N, C], or [N, 1, 1, C] with keepdims.
// Source: tf.keras.layers.GlobalAveragePooling2D, GlobalMaxPooling2D.
Tensor GlobalAvgPool(const Tensor& x, bool keepdims = false);
Tensor GlobalMaxPool(const Tensor& x, bool keepdims = false);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_POOLING_H_
