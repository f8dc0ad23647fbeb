// Convolutions of bf16 images and the gradients of their inputs, by the matrix instructions of AMX.
//
// Both are sums over taps (u, v) and channels r of an image `from`:
//
//   to[n, i * to_stride, j * to_stride, d] =
//       sum of from[n, i * from_stride - pad_top + u, j * from_stride - pad_left + v, r] * w[u, v, r, d]
//
// for (i, j) in a grid, and 0 between the points of the grid. For a convolution w is its filter. For
// the gradient of its input, `from` is dy, and w is the filter with both axes reversed and channels
// exchanged. Sums are f32, and results are rounded once. Products are exact, with one exception: AMX
// counts denormal numbers (below 2^-126, in operands and in sums) as 0. A result does not depend on
// the number of threads.
//
// A thread copies some rows of `from` with the zeros around them, and multiplies them by 32 channels
// of the filter at a time. All taps read the same copy, at another offset.
#ifndef ESTIMATOR_KERNELS_AMX_CONVOLVE_H_
#define ESTIMATOR_KERNELS_AMX_CONVOLVE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "estimator/array/half.h"
#include "estimator/kernels/amx/convolution.h"

namespace estimator::amx {

// The formula above.
struct GridSums {
  int64_t images = 0;
  int64_t from_rows = 0, from_columns = 0, from_channels = 0;
  int64_t to_rows = 0, to_columns = 0, to_channels = 0;
  int64_t grid_rows = 0, grid_columns = 0;
  int64_t filter_rows = 0, filter_columns = 0;
  int64_t from_row_stride = 1, from_column_stride = 1;
  int64_t to_row_stride = 1, to_column_stride = 1;
  int64_t pad_top = 0, pad_left = 0;
  bool reversed = false;  // the filter in memory is [u, v, d, r], and u and v are reversed
};

// nullopt for a stride other than 1 with a filter of more than one tap or with padding.
std::optional<GridSums> ForwardSums(const Convolution& conv);
std::optional<GridSums> InputGradientSums(const Convolution& conv);

struct ConvolvePlan {
  GridSums sums;
  int64_t from_padded = 0, to_padded = 0;  // channels, rounded up to 32
  int64_t padded_columns = 0;              // of a row in the copy of `from`
  int64_t segment_rows = 0;                // rows of the grid in a segment
  int64_t segments = 0;                    // of all images
  int64_t block_segments = 0;              // segments that are copied at a time
  int64_t segment_pixels = 0;              // in the copy
  int64_t tiles = 0;                       // of 32 pixels of the grid in a segment
  int64_t pixel_distance = 0;              // in the copy
  int64_t steps = 0;                       // of 32 channels, over all taps
  int pixel_parts = 1, channel_parts = 1;  // their product is the number of threads

  size_t filter_bytes() const { return static_cast<size_t>(steps * 64 * to_padded); }
  size_t thread_bytes() const;
  size_t scratch_bytes() const {
    return static_cast<size_t>(pixel_parts * channel_parts) * thread_bytes();
  }
};
//   threads: at least 1.
ConvolvePlan MakeConvolvePlan(const GridSums& sums, int threads);

// Copies a filter for Convolve.
//   filter: that of the convolution, [filter_rows, filter_columns, in_channels, out_channels].
//   packed: plan.filter_bytes(), aligned to 64 bytes.
void PackFilter(const ConvolvePlan& plan, const Bfloat16* filter, Bfloat16* packed);

//   filter: what PackFilter has written.
//   scratch: plan.scratch_bytes(), aligned to 64 bytes.
// REQUIRES: IsAvailable() (tiles.h).
void Convolve(const ConvolvePlan& plan, const Bfloat16* from, const Bfloat16* filter, Bfloat16* to,
              void* scratch);

}  // namespace estimator::amx

#endif  // ESTIMATOR_KERNELS_AMX_CONVOLVE_H_
