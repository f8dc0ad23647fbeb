#include "estimator/nn/layers/conv.h"

#include <algorithm>

#include "estimator/base/status.h"
#include "estimator/ops/conv.h"

namespace estimator::layers {
namespace {

estimator::Conv2DOptions OpOptions(Size2D strides, Padding padding, Size2D dilation) {
  estimator::Conv2DOptions options;
  options.strides = {strides.height, strides.width};
  options.padding = padding;
  options.dilations = {dilation.height, dilation.width};
  return options;
}

template <typename Options>
bool CheckSizes(const Tensor& x, const Options& options, absl::string_view layer) {
  return CheckRank(x, layer, 4, 4) && CheckPositive(options.kernel_size, layer, "kernel_size") &&
         CheckPositive(options.strides, layer, "strides") &&
         CheckPositive(options.dilation_rate, layer, "dilation_rate");
}

template <typename Options>
BiasAndActivation Rest(const Options& options) {
  return {options.use_bias, options.bias_initializer, options.bias_regularizer, options.trainable,
          options.activation};
}

Tensor DepthwiseKernel(const Tensor& x, const SeparableConv2DOptions& options) {
  const Shape shape{options.kernel_size.height, options.kernel_size.width, x.dim(3),
                    options.depth_multiplier};
  return GetWeight("depthwise_kernel", shape, x, options.depthwise_initializer,
                   options.depthwise_regularizer, options.trainable);
}

// Source: TF 2.15 keras conv_utils.deconv_output_length.
int64_t TransposedSize(int64_t size, int64_t kernel, int64_t stride, Padding padding) {
  return size * stride + (padding == Padding::kValid ? std::max<int64_t>(kernel - stride, 0) : 0);
}

}  // namespace

Tensor Conv2D(const Tensor& x, const Conv2DOptions& options) {
  const LayerScope scope(options.name, "conv2d");
  if (!CheckSizes(x, options, "conv2d") || !CheckPositive(options.filters, "conv2d", "filters"))
    return InvalidLike(x);
  const Shape shape{options.kernel_size.height, options.kernel_size.width, x.dim(3),
                    options.filters};
  const Tensor kernel = GetWeight("kernel", shape, x, options.kernel_initializer,
                                  options.kernel_regularizer, options.trainable);
  const Tensor y = estimator::Conv2D(
      x, kernel, OpOptions(options.strides, options.padding, options.dilation_rate));
  return AddBiasAndActivate(y, Rest(options));
}

Tensor Conv2DTranspose(const Tensor& x, const Conv2DOptions& options) {
  const LayerScope scope(options.name, "conv2d_transpose");
  if (!CheckSizes(x, options, "conv2d_transpose") ||
      !CheckPositive(options.filters, "conv2d_transpose", "filters")) {
    return InvalidLike(x);
  }
  const Size2D& size = options.kernel_size;
  if (options.dilation_rate.height != 1 || options.dilation_rate.width != 1) {
    return x.graph()->Fail(Unimplemented("conv2d_transpose: dilation_rate must be 1, got ",
                                         options.dilation_rate.height, " and ",
                                         options.dilation_rate.width));
  }
  const Tensor kernel =
      GetWeight("kernel", {size.height, size.width, options.filters, x.dim(3)}, x,
                options.kernel_initializer, options.kernel_regularizer, options.trainable);
  const Shape output{x.dim(0),
                     TransposedSize(x.dim(1), size.height, options.strides.height, options.padding),
                     TransposedSize(x.dim(2), size.width, options.strides.width, options.padding),
                     options.filters};
  const Tensor y =
      estimator::Conv2DTranspose(x, kernel, output, OpOptions(options.strides, options.padding, 1));
  return AddBiasAndActivate(y, Rest(options));
}

Tensor SeparableConv2D(const Tensor& x, const SeparableConv2DOptions& options) {
  const LayerScope scope(options.name, "separable_conv2d");
  if (!CheckSizes(x, options, "separable_conv2d") ||
      !CheckPositive(options.filters, "separable_conv2d", "filters") ||
      !CheckPositive(options.depth_multiplier, "separable_conv2d", "depth_multiplier")) {
    return InvalidLike(x);
  }
  const Tensor depthwise = DepthwiseKernel(x, options);
  const Tensor pointwise =
      GetWeight("pointwise_kernel", {1, 1, x.dim(3) * options.depth_multiplier, options.filters}, x,
                options.pointwise_initializer, options.pointwise_regularizer, options.trainable);
  const Tensor y = SeparableConv2d(
      x, depthwise, pointwise, OpOptions(options.strides, options.padding, options.dilation_rate));
  return AddBiasAndActivate(y, Rest(options));
}

Tensor DepthwiseConv2D(const Tensor& x, const SeparableConv2DOptions& options) {
  const LayerScope scope(options.name, "depthwise_conv2d");
  if (!CheckSizes(x, options, "depthwise_conv2d") ||
      !CheckPositive(options.depth_multiplier, "depthwise_conv2d", "depth_multiplier")) {
    return InvalidLike(x);
  }
  const Tensor y =
      DepthwiseConv2dNative(x, DepthwiseKernel(x, options),
                            OpOptions(options.strides, options.padding, options.dilation_rate));
  return AddBiasAndActivate(y, Rest(options));
}

}  // namespace estimator::layers
