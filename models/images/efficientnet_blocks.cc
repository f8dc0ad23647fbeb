#include "models/images/efficientnet_blocks.h"

#include <algorithm>

namespace estimator::images {
namespace {

Initializer EfficientNetKernel() {
  return initializers::VarianceScaling({.scale = 2, .mode = initializers::FanMode::kFanOut});
}

}  // namespace

ConvNormOptions EfficientNetLayers::Layer(const std::string& conv, const std::string& norm,
                                          int64_t filters, int64_t kernel_size,
                                          int64_t strides) const {
  return {.conv = conv,
          .norm = norm,
          .filters = filters,
          .kernel_size = kernel_size,
          .strides = strides,
          .padding = style_.padding,
          .momentum = style_.momentum,
          .initializer = EfficientNetKernel()};
}

Tensor EfficientNetLayers::ConvNormSwish(const Tensor& x, int64_t filters, int64_t kernel_size,
                                         int64_t strides, const std::string& conv,
                                         const std::string& norm) const {
  return Swish(ConvNorm(net_, x, Layer(conv, norm, filters, kernel_size, strides)));
}

Tensor EfficientNetLayers::SqueezeExcite(const Tensor& x, int64_t squeezed,
                                         const std::string& prefix) const {
  if (!x.valid()) return x;
  Tensor y = GlobalAvgPool(x, /*keepdims=*/true);
  y = net_.Conv2D(y, {.filters = squeezed,
                      .kernel_size = 1,
                      .activation = Swish,
                      .kernel_initializer = EfficientNetKernel(),
                      .name = prefix + "se_reduce"});
  y = net_.Conv2D(y, {.filters = x.dim(3),
                      .kernel_size = 1,
                      .activation = Sigmoid,
                      .kernel_initializer = EfficientNetKernel(),
                      .name = prefix + "se_expand"});
  return x * y;
}

Tensor EfficientNetLayers::Block(const Tensor& inputs, const EfficientNetGroup& block,
                                 double drop_rate, const std::string& prefix) const {
  if (!inputs.valid()) return inputs;
  const int64_t expanded = block.filters_in * block.expand_ratio;
  const bool expands = block.expand_ratio != 1;
  Tensor x = inputs;
  if (expands) {
    x = ConvNormSwish(x, expanded, block.fused ? block.kernel_size : 1,
                      block.fused ? block.strides : 1, prefix + "expand_conv",
                      prefix + "expand_bn");
  }
  if (!block.fused) {
    x = Swish(DepthwiseNorm(
        net_, x,
        Layer(prefix + style_.depthwise, prefix + "bn", 0, block.kernel_size, block.strides)));
  }
  if (block.squeeze_excite)
    x = SqueezeExcite(x, std::max<int64_t>(1, block.filters_in / 4), prefix);
  // Without an expansion, the convolution of a fused block is this one.
  const bool only_conv = block.fused && !expands;
  x = ConvNorm(net_, x,
               Layer(prefix + "project_conv", prefix + "project_bn", block.filters_out,
                     only_conv ? block.kernel_size : 1, only_conv ? block.strides : 1));
  if (only_conv) x = Swish(x);
  if (block.strides != 1 || block.filters_in != block.filters_out) return x;
  x = layers::Dropout(x, {.rate = drop_rate,
                          .training = style_.training && drop_rate > 0,
                          .noise_shape = Shape{inputs.dim(0), 1, 1, 1}});
  return x + inputs;
}

Tensor EfficientNetLayers::Top(const Tensor& features, int64_t classes, double dropout_rate) const {
  const Tensor x = net_.Dropout(layers::GlobalAveragePooling2D(features), dropout_rate);
  return net_.Dense(x, {.units = classes,
                        .kernel_initializer = initializers::VarianceScaling(
                            {.scale = 1.0 / 3,
                             .mode = initializers::FanMode::kFanOut,
                             .distribution = initializers::Distribution::kUniform}),
                        .name = "predictions"});
}

}  // namespace estimator::images
