// What the MobileNets and EfficientNets share. Not for users.
#ifndef MODELS_IMAGES_MOBILE_H_
#define MODELS_IMAGES_MOBILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "estimator/base/string_arg.h"
#include "estimator/estimator.h"
#include "models/images/network.h"

namespace estimator::images {

// Returns `filters` rounded to a multiple of 8, and at least 8.
//   never_below_90_percent: adds 8 if rounding down took more than a tenth.
// Source: TF 2.15 keras mobilenet_v2._make_divisible, efficientnet_v2.round_filters.
int64_t DivisibleBy8(double filters, bool never_below_90_percent = true);

enum class StridedPadding {
  kSame,     // Padding::kSame
  kCorrect,  // less at the beginning if the size is even: TF 2.15 keras imagenet_utils.correct_pad
  kAfter,    // a row and a column after the image
};

// A convolution without bias, and its batch norm.
struct ConvNormOptions {
  std::string conv;
  std::string norm;     // the names of the layers
  int64_t filters = 0;  // not of DepthwiseNorm
  int64_t kernel_size = 1;
  int64_t strides = 1;
  StridedPadding padding = StridedPadding::kSame;  // if `strides` is not 1
  double momentum = 0.99;                          // of the batch norm
  Initializer initializer = nullptr;
  int64_t depth_multiplier = 1;  // of DepthwiseNorm
};
Tensor ConvNorm(const Network& net, const Tensor& x, const ConvNormOptions& options);
Tensor DepthwiseNorm(const Network& net, const Tensor& x, const ConvNormOptions& options);

// Problems for Network's constructor: "alpha must be positive, got 0".
std::vector<std::string> UnlessPositive(StringArg option, double value);

}  // namespace estimator::images

#endif  // MODELS_IMAGES_MOBILE_H_
