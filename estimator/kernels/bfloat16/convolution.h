// Sizes that the kernels of this folder share.
#ifndef ESTIMATOR_KERNELS_BFLOAT16_CONVOLUTION_H_
#define ESTIMATOR_KERNELS_BFLOAT16_CONVOLUTION_H_

#include <cstdint>

#include "estimator/kernels/convolution.h"

namespace estimator::bfloat16 {

inline constexpr int64_t kGroup = 32;  // channels, pixels, rows or columns: of two tiles
inline constexpr int64_t kStep = 32;   // pixels, or channels, that one instruction adds up
inline constexpr int64_t kFewestChannels = 16;
inline constexpr int64_t kMostGatheredTaps = 128;

// What follows a product and its bias: nothing, max(x, 0), or min(max(x, 0), 6). NaN stays NaN.
enum class Activation : uint8_t { kNone, kRelu, kRelu6 };

// With few channels, the products of one tap would fill few of the 32 channels of a tile. So an
// image is copied by taps: all taps of a pixel become channels of a filter of one tap.
inline bool IsGathered(const Convolution& conv) {
  return conv.taps() > 1 && conv.taps() <= kMostGatheredTaps && conv.in_channels < kFewestChannels;
}

// With filters of one tap, pixel i of x may belong to pixel i of y. Then the image of one column
// that has all pixels gives the same products.
inline Convolution Flattened(const Convolution& conv) {
  const bool same = conv.taps() == 1 && conv.row_stride == 1 && conv.column_stride == 1 &&
                    conv.pad_top == 0 && conv.pad_left == 0 && conv.in_rows == conv.out_rows &&
                    conv.in_columns == conv.out_columns;
  if (!same) return conv;
  Convolution flat = conv;
  flat.in_rows = flat.out_rows = conv.pixels();
  flat.images = flat.in_columns = flat.out_columns = 1;
  return flat;
}

inline constexpr int64_t RoundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
inline constexpr int64_t DivideUp(int64_t n, int64_t by) { return (n + by - 1) / by; }

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_CONVOLUTION_H_
