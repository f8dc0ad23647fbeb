// The gradient of a convolution's filter from bf16 or f32 images, by products of tiles (tiles.h).
//
//   dfilter[u, v, c, k] = sum over pixels (n, p, q) of
//       x[n, p * stride - pad_top + u, q * stride - pad_left + v, c] * dy[n, p, q, k]
//
// Sums are f32. Products of bf16 are exact, with one exception: the CPU counts denormal numbers
// (below 2^-126, in operands and in sums) as 0. Numbers of f32 are split into two of bf16 (Split,
// copies.h), and three of the four products are added: the error is at most 2^-15 of the sum of the
// products' magnitudes. Numbers of x are also multiplied by the zeros between rows of dy, so an
// infinite one gives NaN for taps that do not read it, too.
//
// For a block of rows, a thread copies x to [channel][pixel] and dy to pairs of pixels, the
// operands of the instructions. All taps of a filter read the same copy of x, at another offset,
// because rows of dy are extended by zeros to the length of rows of x. With a stride, taps whose
// distance is no multiple of it have copies of their own. An image of few channels is copied by
// taps instead (IsGathered): to [tap][channel][pixel]. Without AMX, filters of one tap multiply
// pairs of pixels of x, which are faster to copy.
#ifndef ESTIMATOR_KERNELS_BFLOAT16_FILTER_GRADIENT_H_
#define ESTIMATOR_KERNELS_BFLOAT16_FILTER_GRADIENT_H_

#include <cstddef>
#include <cstdint>

#include "estimator/array/half.h"
#include "estimator/kernels/bfloat16/convolution.h"

namespace estimator::bfloat16 {

// How the work is divided between threads: pixel_parts * channel_parts. Threads of one pixel part
// have their own channels of the wider operand. Sums of pixel parts are added in order.
struct FilterPlan {
  Convolution conv;  // of the copy of x: if that has been copied by taps, they are its channels
  Convolution given;
  bool splits = false;                    // x and dy are f32
  bool pairs = false;                     // x is copied to pairs of pixels, as dy is
  int64_t in_padded = 0, out_padded = 0;  // channels, rounded up to 32
  // The copies of x: phase_rows * phase_columns planes, of one segment [rows, padded_columns] each.
  int64_t phase_rows = 1, phase_columns = 1;
  int64_t padded_columns = 0;
  int64_t segment_rows = 0;           // rows of dy in a segment
  int64_t segments = 0;               // of all images
  int64_t block_segments = 0;         // segments that are copied at a time
  int64_t plane_pixels = 0;           // of x in a segment, of one phase
  int64_t steps = 0;                  // of 32 pixels of dy in a segment
  int64_t row_pixels = 0;             // the distance of channels in the copy of x
  int64_t in_part = 0, out_part = 0;  // channels of a thread, multiples of 32
  int pixel_parts = 1, channel_parts = 1;

  int parts() const { return splits ? 2 : 1; }  // of a number
  // The distance of channels in the copy of x.
  int64_t channel_distance() const { return pairs ? panel() / 16 : row_pixels; }
  // The distance of panels of dy, and of x if it is copied to pairs: an odd number of cache lines,
  // so that panels begin in different sets of the cache.
  int64_t panel() const { return (block_segments * steps * kStep + 2) * 16; }
  size_t sum_floats() const { return static_cast<size_t>(conv.taps() * in_padded * out_padded); }
  size_t thread_bytes() const;
  size_t scratch_bytes() const;
};
//   threads: at least 1.
//   pooled: RunFilterGradient has the gradient of a pool of dy. REQUIRES an even number of rows and
//   columns of dy.
FilterPlan MakeFilterPlan(const Convolution& conv, int threads, bool pooled = false,
                          bool splits = false);

//   T: float if the plan splits, else Bfloat16.
//   dy: or the gradient of its pool of 2x2 pixels, if argmax is not null. argmax is the tap
//   r * 2 + s, or 4 for no gradient. Both are [images, out_rows / 2, out_columns / 2,
//   out_channels].
//   dfilter: [filter_rows, filter_columns, in_channels, out_channels].
//   dbias: [out_channels], the sums of dy over all pixels, or null.
//   scratch: plan.scratch_bytes(), aligned to 64 bytes.
// REQUIRES: IsAvailable() (tiles.h).
template <typename T>
void RunFilterGradient(const FilterPlan& plan, const T* x, const T* dy, const uint8_t* argmax,
                       float* dfilter, float* dbias, void* scratch);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_FILTER_GRADIENT_H_
