// Pooling layers on images in NHWC.
#ifndef ESTIMATOR_NN_LAYERS_POOLING_H_
#define ESTIMATOR_NN_LAYERS_POOLING_H_

#include <optional>
#include <string>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"
#include "estimator/nn/layers/layer.h"
#include "estimator/ops/padding.h"

namespace estimator::layers {

struct Pooling2DOptions {
  Size2D pool_size = 2;
  OptionalSize2D strides = std::nullopt;  // none: pool_size
  Padding padding = Padding::kValid;
  std::string name = "";  // none: max_pooling2d, max_pooling2d_1, ...
};

// The maximum, or the mean, of each window of each channel. The default name of AveragePooling2D is
// average_pooling2d.
//   x: [N, H, W, C].  Returns [N, P, Q, C].
// Errors (kept by the graph): INVALID_ARGUMENT if x is not of rank 4, or is smaller than a window.
// Source: TF 2.15 tf.compat.v1.layers.max_pooling2d, average_pooling2d.
Tensor MaxPooling2D(const Tensor& x, const Pooling2DOptions& options = {});
Tensor AveragePooling2D(const Tensor& x, const Pooling2DOptions& options = {});

// The mean over rows and columns: [N, H, W, C] -> [N, C].
// Source: TF 2.15 tf.keras.layers.GlobalAveragePooling2D.
Tensor GlobalAveragePooling2D(const Tensor& x, StringArg name = "");

}  // namespace estimator::layers

#endif  // ESTIMATOR_NN_LAYERS_POOLING_H_
