// Two-dimensional convolutions of images in NHWC layout.
#ifndef ESTIMATOR_OPS_CONV_H_
#define ESTIMATOR_OPS_CONV_H_

#include <cstdint>
#include <string>
#include <vector>

#include "estimator/array/shape.h"
#include "estimator/graph/tensor.h"
#include "estimator/ops/padding.h"

namespace estimator {

struct Conv2DOptions {
  // One number for both axes, two numbers {rows, columns}, or four in NHWC order as in TensorFlow.
  std::vector<int64_t> strides = {1, 1};
  Padding padding = Padding::kSame;
  // {top, bottom, left, right}. If this is not empty, it replaces `padding`.
  std::vector<int64_t> explicit_paddings = {};
  std::vector<int64_t> dilations = {1, 1};  // same forms as strides
  std::string name = "";
};

// Cross-correlation:
//   out[n, p, q, o] = sum_{r,s,c} x[n, p*stride + r*dilation - pad, q*stride + s*dilation - pad, c]
//                                 * filter[r, s, c, o]
//   x: [N, H, W, C].  filter: [R, S, C, O], of x's floating type.  Returns [N, P, Q, O].
// Errors: INVALID_ARGUMENT if a rank is not 4, if channels differ, or if a window does not fit.
// Source: TF 2.15 tf.nn.conv2d.
Tensor Conv2D(const Tensor& x, const Tensor& filter, const Conv2DOptions& options = {});

// The gradient of Conv2D with respect to x, from the gradient of its output.
//   input: the shape of x, [N, H, W, C].  filter: [R, S, C, O].  out_backprop: [N, P, Q, O].
//   Returns a tensor of shape `input`.
Tensor Conv2DBackpropInput(const Shape& input, const Tensor& filter, const Tensor& out_backprop,
                           const Conv2DOptions& options = {});

// The gradient of Conv2D with respect to its filter, from the gradient of its output.
//   x: [N, H, W, C].  filter: the shape of the filter, [R, S, C, O].  out_backprop: [N, P, Q, O].
//   Returns a tensor of shape `filter`.
Tensor Conv2DBackpropFilter(const Tensor& x, const Shape& filter, const Tensor& out_backprop,
                            const Conv2DOptions& options = {});

// Transposed convolution ("deconvolution"): the input gradient of a Conv2D that maps a tensor of
// shape `output` to x.
//   x: [N, P, Q, C].  filter: [R, S, O, C].  output: [N, H, W, O].  Returns shape `output`.
// Errors: INVALID_ARGUMENT if a Conv2D of `output` with these options would not have x's shape.
// Source: TF 2.15 tf.nn.conv2d_transpose.
Tensor Conv2DTranspose(const Tensor& x, const Tensor& filter, const Shape& output,
                       const Conv2DOptions& options = {});

// Convolves each channel by itself, with M filters; the result is in out[..., c*M + m].
//   x: [N, H, W, C].  filter: [R, S, C, M].  Returns [N, P, Q, C*M].
// Source: TF 2.15 tf.nn.depthwise_conv2d.
Tensor DepthwiseConv2dNative(const Tensor& x, const Tensor& filter,
                             const Conv2DOptions& options = {});
Tensor DepthwiseConv2dNativeBackpropInput(const Shape& input, const Tensor& filter,
                                          const Tensor& out_backprop,
                                          const Conv2DOptions& options = {});
Tensor DepthwiseConv2dNativeBackpropFilter(const Tensor& x, const Shape& filter,
                                           const Tensor& out_backprop,
                                           const Conv2DOptions& options = {});

// A depthwise convolution with the options, then a pointwise convolution of stride 1.
//   depthwise_filter: [R, S, C, M].  pointwise_filter: [1, 1, C*M, O].
// Source: TF 2.15 tf.nn.separable_conv2d.
Tensor SeparableConv2d(const Tensor& x, const Tensor& depthwise_filter,
                       const Tensor& pointwise_filter, const Conv2DOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_OPS_CONV_H_
