#include "models/images/mobile.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace estimator::images {
namespace {

bool PadsItself(const ConvNormOptions& options) {
  return options.strides != 1 && options.padding != StridedPadding::kSame;
}

Padding PaddingOf(const ConvNormOptions& options) {
  return PadsItself(options) ? Padding::kValid : Padding::kSame;
}

Tensor PadStrided(const Tensor& x, const ConvNormOptions& options) {
  if (!x.valid() || !PadsItself(options)) return x;
  if (options.padding == StridedPadding::kAfter) return Pad(x, {{0, 0}, {0, 1}, {0, 1}, {0, 0}});
  const int64_t after = options.kernel_size / 2;
  const int64_t top = after - (1 - x.dim(1) % 2), left = after - (1 - x.dim(2) % 2);
  return Pad(x, {{0, 0}, {top, after}, {left, after}, {0, 0}});
}

}  // namespace

int64_t DivisibleBy8(double filters, bool never_below_90_percent) {
  int64_t rounded = std::max<int64_t>(8, static_cast<int64_t>(filters + 4) / 8 * 8);
  if (never_below_90_percent && static_cast<double>(rounded) < 0.9 * filters) rounded += 8;
  return rounded;
}

Tensor ConvNorm(const Network& net, const Tensor& x, const ConvNormOptions& options) {
  const Tensor y = net.Conv2D(PadStrided(x, options), {.filters = options.filters,
                                                       .kernel_size = options.kernel_size,
                                                       .strides = options.strides,
                                                       .padding = PaddingOf(options),
                                                       .use_bias = false,
                                                       .kernel_initializer = options.initializer,
                                                       .name = options.conv});
  return net.BatchNormalization(y, {.momentum = options.momentum, .name = options.norm});
}

Tensor DepthwiseNorm(const Network& net, const Tensor& x, const ConvNormOptions& options) {
  const Tensor y =
      net.DepthwiseConv2D(PadStrided(x, options), {.kernel_size = options.kernel_size,
                                                   .strides = options.strides,
                                                   .padding = PaddingOf(options),
                                                   .depth_multiplier = options.depth_multiplier,
                                                   .use_bias = false,
                                                   .depthwise_initializer = options.initializer,
                                                   .name = options.conv});
  return net.BatchNormalization(y, {.momentum = options.momentum, .name = options.norm});
}

std::vector<std::string> UnlessPositive(StringArg option, double value) {
  if (value > 0) return {};
  return {absl::StrCat(option, " must be positive, got ", value)};
}

}  // namespace estimator::images
