// Copies of images and filters to the operands of products of tiles (tiles.h). The functions are
// compiled for AVX-512 whatever the flags are. REQUIRES: IsAvailable() (tiles.h).
#ifndef ESTIMATOR_KERNELS_BFLOAT16_COPIES_H_
#define ESTIMATOR_KERNELS_BFLOAT16_COPIES_H_

#include <cstdint>

#include "estimator/array/half.h"

namespace estimator::bfloat16 {

// to[c - begin][i] = pixels[i][c] for channels c in [begin, end), 0 for c >= channels.
//   count: of pixels.  count, begin and end are multiples of 32.
//   distance: of channels in `to`, in elements.  to: aligned to 64 bytes.
void CopyTransposed(const Bfloat16* const* pixels, int64_t count, int64_t begin, int64_t end,
                    int64_t channels, int64_t distance, Bfloat16* to);

// Copies pairs of pixels to panels of 16 channels: to[panel * distance + (i / 2 * 16 + n) * 2 + i %
// 2] is a channel of pixels[i]. Panel 2 g and 2 g + 1 have the channels begin + 32 g + 8 (n / 4) +
// n % 4, the second one plus 4. Other arguments as for CopyTransposed.
void CopyPairs(const Bfloat16* const* pixels, int64_t count, int64_t begin, int64_t end,
               int64_t channels, int64_t distance, Bfloat16* to);

// The same of f32 numbers, split as Split does: their high or their low parts.
enum class Half { kHigh, kLow };
void CopyTransposed(const float* const* pixels, Half half, int64_t count, int64_t begin,
                    int64_t end, int64_t channels, int64_t distance, Bfloat16* to);
void CopyPairs(const float* const* pixels, Half half, int64_t count, int64_t begin, int64_t end,
               int64_t channels, int64_t distance, Bfloat16* to);

// The windows of a filter in an image [rows, columns, channels].
struct TapWindows {
  int64_t rows = 0, columns = 0, channels = 0;
  int64_t filter_rows = 0, filter_columns = 0;
  int64_t row_stride = 1, column_stride = 1;  // of the windows
};

// Some rows of windows.
struct WindowRows {
  int64_t row = 0, column = 0;               // of the first window in the image; may be negative
  int64_t num_rows = 0, count = 0;           // of windows, and of windows in a row
  int64_t first_number = 0, end_number = 0;  // of a window
};

// Copies the numbers of windows, number by number. For t = (u * filter_columns + v) * channels + c
// in [first_number, end_number), if there is such a number:
//   to[(t - first_number) * distance + i * count + j] =
//       image[row + i * row_stride + u, column + j * column_stride + v, c]
// It is 0 outside of the image.
//   planes: memory for PlaneNumbers(windows, num_rows, count) numbers.
//   low: for f32, which is split: where the low parts of the numbers begin in `to`.
int64_t PlaneNumbers(const TapWindows& windows, int64_t num_rows, int64_t count);
void CopyTaps(const TapWindows& windows, const Bfloat16* image, const WindowRows& rows,
              int64_t distance, Bfloat16* planes, Bfloat16* to);
void CopyTaps(const TapWindows& windows, const float* image, const WindowRows& rows,
              int64_t distance, float* planes, Bfloat16* to, int64_t low);

// A row of the gradient of a max pool of 2x2 pixels: to[q * distance + c] is dy[q / 2, c] where
// argmax[q / 2, c] is the tap of the pixel, and 0 elsewhere. c is in [0, channels).
//   dy, argmax: [windows, channels].  lower: whether the row is the lower one of the windows.
void Unpool(const Bfloat16* dy, const uint8_t* argmax, bool lower, int64_t windows,
            int64_t channels, int64_t distance, Bfloat16* to);
void Unpool(const float* dy, const uint8_t* argmax, bool lower, int64_t windows, int64_t channels,
            int64_t distance, float* to);

// The same row as pairs of pixels, in the panels of CopyPairs, of its pixels 0, 1, ...
//   begin, end: channels, multiples of 32.  distance: of panels.
void UnpoolPairs(const Bfloat16* dy, const uint8_t* argmax, bool lower, int64_t windows,
                 int64_t begin, int64_t end, int64_t channels, int64_t distance, Bfloat16* to);
void UnpoolPairs(const float* dy, Half half, const uint8_t* argmax, bool lower, int64_t windows,
                 int64_t begin, int64_t end, int64_t channels, int64_t distance, Bfloat16* to);

// Splits f32 numbers: `high` is x rounded to bf16, and `low` the rest x - high, rounded to bf16.
// high + low differs from x by at most 2^-17 of x, if x has a magnitude above 2^-100. `high` is
// finite unless x is NaN, so that `low` has what is infinite.
void Split(const float* x, int64_t count, Bfloat16* high, Bfloat16* low);

// Tiles of a filter: to[(j * 16 + n) * 2 + e] is the weight of channel r + 2 j + e of the sum and
// of channel d + n of the result, for j and n below 16. It is 0 beyond the channels of the filter.
//   CopyFilterTransposed: filter [to_channels, from_channels].
//   CopyFilterPairs: filter [from_channels, to_channels].
void CopyFilterTransposed(const Bfloat16* filter, int64_t to_channels, int64_t from_channels,
                          int64_t d, int64_t r, Bfloat16* to);
void CopyFilterPairs(const Bfloat16* filter, int64_t from_channels, int64_t to_channels, int64_t r,
                     int64_t d, Bfloat16* to);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_COPIES_H_
