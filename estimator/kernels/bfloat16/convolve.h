// Convolutions of bf16 and f32 images and the gradients of their inputs, by products of tiles
// (tiles.h).
//
// Both are sums over taps (u, v) and channels r of an image `from`:
//
//   to[n, i * to_stride, j * to_stride, d] =
//       sum of from[n, i * from_stride - pad_top + u, j * from_stride - pad_left + v, r] *
//              w[u, v, r, d]
//
// for (i, j) in a grid, and 0 between the points of the grid. For a convolution w is its filter.
// For the gradient of its input, `from` is dy, and w is the filter with both axes reversed and
// channels exchanged. Sums are f32, and results are rounded once. A bias, an activation and a max
// pool may follow, and `from` may be the gradient of such a pool. Products are exact, with one
// exception: the CPU counts denormal numbers (below 2^-126, in operands and in sums) as 0. A result
// does not depend on the number of threads.
//
// In f32, every number is split into two of bf16 (Split, copies.h), and three of the four products
// are added. The error is at most 2^-15 of the sum of the products' magnitudes. So a result that is
// that close to the largest number of f32 may be infinite.
//
// A thread copies some rows of `from` with the zeros around them, and multiplies them by 32
// channels of the filter at a time. All taps read the same copy, at another offset. An image of few
// channels is copied by taps instead (IsGathered).
#ifndef ESTIMATOR_KERNELS_BFLOAT16_CONVOLVE_H_
#define ESTIMATOR_KERNELS_BFLOAT16_CONVOLVE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "estimator/array/half.h"
#include "estimator/kernels/bfloat16/convolution.h"

namespace estimator::bfloat16 {

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
  bool gathered = false;  // `from` is copied by taps

  // What is copied: the rows and columns of taps that read the same copy, and its channels.
  int64_t copied_rows() const { return gathered ? 1 : filter_rows; }
  int64_t copied_columns() const { return gathered ? 1 : filter_columns; }
  int64_t copied_channels() const {
    return gathered ? filter_rows * filter_columns * from_channels : from_channels;
  }
};

// nullopt for a stride other than 1 with a filter of more than one tap or with padding, unless the
// image is copied by taps; and for the gradient of an image that is.
//   pooled: there is a pool between y and what is in memory.
std::optional<GridSums> ForwardSums(const Convolution& conv, bool pooled = false);
std::optional<GridSums> InputGradientSums(const Convolution& conv, bool pooled = false);

struct ConvolvePlan {
  GridSums sums;
  bool splits = false;                     // `from` and the filter are f32
  bool pools = false;                      // the results
  int64_t from_padded = 0, to_padded = 0;  // channels, rounded up to 32
  int64_t padded_columns = 0;              // of a row in the copy of `from`
  int64_t segment_rows = 0;                // rows of the grid in a segment
  int64_t segments = 0;                    // of all images
  int64_t block_segments = 0;              // segments that are copied at a time
  int64_t segment_pixels = 0;              // in the copy
  int64_t tiles = 0;                       // of 32 pixels of the grid in a segment
  int64_t pixel_distance = 0;              // in the copy
  int64_t steps = 0;                       // of 32 channels, over all taps and products
  int pixel_parts = 1, channel_parts = 1;  // their product is the number of threads

  int64_t products() const { return splits ? 3 : 1; }
  // Of the panels that Convolve reads, and of what PackFilter writes, which may be more.
  size_t panel_bytes() const { return static_cast<size_t>(steps * 64 * to_padded); }
  size_t filter_bytes() const;
  size_t thread_bytes() const;
  size_t scratch_bytes() const {
    return static_cast<size_t>(pixel_parts * channel_parts) * thread_bytes();
  }
};
//   threads: at least 1.
//   splits: REQUIRES !sums.gathered.
//   pools: REQUIRES an even number of rows and columns of `to`, and no strides of `to`.
ConvolvePlan MakeConvolvePlan(const GridSums& sums, int threads, bool pools = false,
                              bool splits = false);

struct ConvolveSource {
  // `from`, or the gradient of its pool of 2x2 pixels, [images, from_rows / 2, from_columns / 2,
  // r]. One of the two is not null: `wide` if the plan splits.
  const Bfloat16* narrow = nullptr;
  const float* wide = nullptr;
  const uint8_t* argmax = nullptr;  // of the pool: tap r * 2 + s, or 4 for no gradient
};

struct ConvolveTarget {
  // One of the two is not null. With a pool, [images, to_rows / 2, to_columns / 2, d].
  Bfloat16* narrow = nullptr;
  float* wide = nullptr;
  const float* bias = nullptr;  // [d]
  // Of the shape of the result, added before the activation. Not with a pool.
  const float* side = nullptr;
  Activation activation = Activation::kNone;
  uint8_t* argmax = nullptr;  // of the pool
};

// Copies a filter for Convolve.
//   filter: that of the convolution, [filter_rows, filter_columns, in_channels, out_channels], in
//   bf16, or f32 if the plan splits.
//   packed: plan.filter_bytes(), aligned to 64 bytes.
void PackFilter(const ConvolvePlan& plan, const void* filter, Bfloat16* packed);

//   filter: what PackFilter has written.
//   scratch: plan.scratch_bytes(), aligned to 64 bytes.
// REQUIRES: IsAvailable() (tiles.h); with plan.pools, the activation is relu.
void Convolve(const ConvolvePlan& plan, const ConvolveSource& from, const Bfloat16* filter,
              const ConvolveTarget& to, void* scratch);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_CONVOLVE_H_
