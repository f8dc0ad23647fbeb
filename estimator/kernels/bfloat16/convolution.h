// The geometry of a convolution, and sizes that the kernels of this folder share.
#ifndef ESTIMATOR_KERNELS_BFLOAT16_CONVOLUTION_H_
#define ESTIMATOR_KERNELS_BFLOAT16_CONVOLUTION_H_

#include <cstdint>

namespace estimator::bfloat16 {

inline constexpr int64_t kGroup = 32;  // channels, pixels, rows or columns: of two tiles
inline constexpr int64_t kStep = 32;   // pixels, or channels, that one instruction adds up
inline constexpr int64_t kFewestChannels = 16;
inline constexpr int64_t kMostGatheredTaps = 128;

// What follows a product and its bias: nothing, max(x, 0), or min(max(x, 0), 6). NaN stays NaN.
enum class Activation : uint8_t { kNone, kRelu, kRelu6 };

// y[n, p, q, k] = sum over u, v, c of
//     x[n, p * row_stride - pad_top + u, q * column_stride - pad_left + v, c] * filter[u, v, c, k]
// Outside of x there are zeros.
//   x: [images, in_rows, in_columns, in_channels].
//   y: [images, out_rows, out_columns, out_channels].
struct Convolution {
  int64_t images = 0;
  int64_t in_rows = 0, in_columns = 0, in_channels = 0;
  int64_t out_rows = 0, out_columns = 0, out_channels = 0;
  int64_t filter_rows = 0, filter_columns = 0;
  int64_t row_stride = 1, column_stride = 1;
  int64_t pad_top = 0, pad_left = 0;

  int64_t taps() const { return filter_rows * filter_columns; }
  // With few channels, the products of one tap would fill few of the 32 channels of a tile. So an
  // image is copied by taps: all taps of a pixel become channels of a filter of one tap.
  bool IsGathered() const {
    return taps() > 1 && taps() <= kMostGatheredTaps && in_channels < kFewestChannels;
  }
  // With filters of one tap, pixel i of x may belong to pixel i of y. Then the image of one column
  // that has all pixels gives the same products.
  Convolution Flattened() const {
    const bool same = taps() == 1 && row_stride == 1 && column_stride == 1 && pad_top == 0 &&
                      pad_left == 0 && in_rows == out_rows && in_columns == out_columns;
    if (!same) return *this;
    Convolution flat = *this;
    flat.in_rows = flat.out_rows = images * out_rows * out_columns;
    flat.images = flat.in_columns = flat.out_columns = 1;
    return flat;
  }
};

inline constexpr int64_t RoundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
inline constexpr int64_t DivideUp(int64_t n, int64_t by) { return (n + by - 1) / by; }

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_CONVOLUTION_H_
