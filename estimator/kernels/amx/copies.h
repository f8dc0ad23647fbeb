// Copies of images and filters to the operands of MultiplyTiles (tiles.h). The functions are compiled
// for AVX-512 whatever the flags are. REQUIRES: IsAvailable() (tiles.h).
#ifndef ESTIMATOR_KERNELS_AMX_COPIES_H_
#define ESTIMATOR_KERNELS_AMX_COPIES_H_

#include <cstdint>

#include "estimator/array/half.h"

namespace estimator::amx {

// to[c - begin][i] = pixels[i][c] for channels c in [begin, end), 0 for c >= channels.
//   count: of pixels.  count, begin and end are multiples of 32.
//   distance: of channels in `to`, in elements.  to: aligned to 64 bytes.
void CopyTransposed(const Bfloat16* const* pixels, int64_t count, int64_t begin, int64_t end,
                    int64_t channels, int64_t distance, Bfloat16* to);

// Copies pairs of pixels to panels of 16 channels: to[panel * distance + (i / 2 * 16 + n) * 2 + i % 2]
// is a channel of pixels[i]. Panel 2 g and 2 g + 1 have the channels begin + 32 g + 8 (n / 4) + n % 4,
// the second one plus 4. Other arguments as for CopyTransposed.
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
  int64_t column_stride = 1;  // of the windows
};

// Copies the pixels of `count` windows, the taps of each next to each other:
//   to[j * distance + (u * filter_columns + v) * channels + c] =
//       image[row + u, column + j * column_stride + v, c]
// It is 0 outside of the image, and up to a multiple of 32 numbers.
//   distance: a multiple of 32.  to: aligned to 64 bytes.
// REQUIRES: Convolution::IsGathered() (convolution.h) of such a filter.
void GatherTaps(const TapWindows& windows, const Bfloat16* image, int64_t row, int64_t column,
                int64_t count, int64_t distance, Bfloat16* to);

// A row of the gradient of a max pool of 2x2 pixels: to[q * distance + c] is dy[q / 2, c] where
// argmax[q / 2, c] is the tap of the pixel, and 0 elsewhere. c is in [0, channels).
//   dy, argmax: [windows, channels].  lower: whether the row is the lower one of the windows.
void Unpool(const Bfloat16* dy, const uint8_t* argmax, bool lower, int64_t windows,
            int64_t channels, int64_t distance, Bfloat16* to);
void Unpool(const float* dy, const uint8_t* argmax, bool lower, int64_t windows, int64_t channels,
            int64_t distance, float* to);

// Splits f32 numbers: `high` is x rounded to bf16, and `low` the rest x - high, rounded to bf16.
// high + low differs from x by at most 2^-17 of x, if x has a magnitude above 2^-100.
void Split(const float* x, int64_t count, Bfloat16* high, Bfloat16* low);

// Tiles of a filter: to[(j * 16 + n) * 2 + e] is the weight of channel r + 2 j + e of the sum and of
// channel d + n of the result, for j and n below 16. It is 0 beyond the channels of the filter.
//   CopyFilterTransposed: filter [to_channels, from_channels].
//   CopyFilterPairs: filter [from_channels, to_channels].
void CopyFilterTransposed(const Bfloat16* filter, int64_t to_channels, int64_t from_channels,
                          int64_t d, int64_t r, Bfloat16* to);
void CopyFilterPairs(const Bfloat16* filter, int64_t from_channels, int64_t to_channels, int64_t r,
                     int64_t d, Bfloat16* to);

}  // namespace estimator::amx

#endif  // ESTIMATOR_KERNELS_AMX_COPIES_H_
