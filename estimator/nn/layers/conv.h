// Convolution layers on images in NHWC.
#ifndef ESTIMATOR_NN_LAYERS_CONV_H_
#define ESTIMATOR_NN_LAYERS_CONV_H_

#include <cstdint>
#include <string>

#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/activation.h"
#include "estimator/nn/layers/layer.h"
#include "estimator/ops/padding.h"

namespace estimator::layers {

struct Conv2DOptions {
  int64_t filters = 0;     // required
  Size2D kernel_size = 0;  // required
  Size2D strides = 1;
  Padding padding = Padding::kValid;
  Size2D dilation_rate = 1;
  Activation activation = nullptr;
  bool use_bias = true;
  Initializer kernel_initializer = nullptr;  // none: the variable scope's, or GlorotUniform
  Initializer bias_initializer = nullptr;    // none: zeros
  Regularizer kernel_regularizer = nullptr;
  Regularizer bias_regularizer = nullptr;
  bool trainable = true;
  std::string name = "";  // none: conv2d, conv2d_1, ...
};

// activation(conv(x, kernel) + bias).
//   x: [N, H, W, C].  Returns [N, P, Q, filters].
//   Variables: `<name>/kernel` [R, S, C, filters], `<name>/bias` [filters].
// Errors (kept by the graph): INVALID_ARGUMENT if x is not of rank 4, if filters or a size is not
// positive, or if x is smaller than the kernel's window.
// Source: TF 2.15 tf.compat.v1.layers.conv2d.
Tensor Conv2D(const Tensor& x, const Conv2DOptions& options);

// The transposed convolution, which upsamples by `strides`. The default name is conv2d_transpose.
//   x: [N, H, W, C].  Returns [N, P, Q, filters], with
//     P = H * stride                         for Padding::kSame
//     P = H * stride + max(R - stride, 0)    for Padding::kValid
//   and Q from W in the same way.
//   Variables: `<name>/kernel` [R, S, filters, C], `<name>/bias` [filters].
// Errors (kept by the graph): as Conv2D; UNIMPLEMENTED if dilation_rate is not 1.
// Source: TF 2.15 tf.compat.v1.layers.conv2d_transpose.
Tensor Conv2DTranspose(const Tensor& x, const Conv2DOptions& options);

struct SeparableConv2DOptions {
  int64_t filters = 0;     // required; DepthwiseConv2D does not use it
  Size2D kernel_size = 0;  // required
  Size2D strides = 1;
  Padding padding = Padding::kValid;
  Size2D dilation_rate = 1;
  int64_t depth_multiplier = 1;  // M: the number of depthwise outputs per input channel
  Activation activation = nullptr;
  bool use_bias = true;
  Initializer depthwise_initializer = nullptr;
  Initializer pointwise_initializer = nullptr;
  Initializer bias_initializer = nullptr;
  Regularizer depthwise_regularizer = nullptr;
  Regularizer pointwise_regularizer = nullptr;
  Regularizer bias_regularizer = nullptr;
  bool trainable = true;
  std::string name = "";
};

// A depthwise convolution, then a 1x1 convolution that mixes the channels. The default name is
// separable_conv2d.
//   x: [N, H, W, C].  Returns [N, P, Q, filters].
//   Variables: `<name>/depthwise_kernel` [R, S, C, M],
//              `<name>/pointwise_kernel` [1, 1, C*M, filters],
//              `<name>/bias`             [filters].
// Errors (kept by the graph): as Conv2D.
// Source: TF 2.15 tf.compat.v1.layers.separable_conv2d.
Tensor SeparableConv2D(const Tensor& x, const SeparableConv2DOptions& options);

// The depthwise half of SeparableConv2D. The default name is depthwise_conv2d.
//   x: [N, H, W, C].  Returns [N, P, Q, C*M].
//   Variables: `<name>/depthwise_kernel` [R, S, C, M], `<name>/bias` [C*M].
// Errors (kept by the graph): as Conv2D.
// Source: TF 2.15 tf.keras.layers.DepthwiseConv2D.
Tensor DepthwiseConv2D(const Tensor& x, const SeparableConv2DOptions& options);

}  // namespace estimator::layers

#endif  // ESTIMATOR_NN_LAYERS_CONV_H_
