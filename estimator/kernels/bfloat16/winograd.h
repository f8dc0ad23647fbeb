// Convolutions of bf16 images by filters of 3x3 with stride 1, and their gradients, by Winograd's
// algorithm F(2x2, 3x3) with products of bf16 by AVX-512 (dot_products.h). A result does not depend
// on the number of threads.
//
// A tile of 2x2 outputs reads 4x4 inputs. For each of 16 points it becomes one number of each
// channel, and the products over the input channels are matrix products. These are 2.25 times fewer
// multiplications than in the direct algorithm. The numbers at the points are rounded to bf16: the
// deviation of the error is 4e-3 of the result's root mean square, where results in bf16 alone have
// 2e-3. The largest error of a million results is 2.5e-2. Sums are f32, and results are rounded
// once. Denormal numbers count as 0. An input that is infinite, NaN or above 2^126 makes all
// outputs of its tiles NaN.
//   Source: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
#ifndef ESTIMATOR_KERNELS_BFLOAT16_WINOGRAD_H_
#define ESTIMATOR_KERNELS_BFLOAT16_WINOGRAD_H_

#include <cstddef>
#include <cstdint>

#include "estimator/array/half.h"
#include "estimator/kernels/bfloat16/convolution.h"

namespace estimator::bfloat16 {

// Whether the functions below support a convolution: a filter of 3x3, stride 1, and numbers of
// channels that are multiples of 32.
bool SupportsWinograd(const Convolution& conv);

// How the work is divided between threads.
struct WinogradPlan {
  Convolution conv;
  int threads = 1;

  int64_t tile_rows() const { return DivideUp(conv.out_rows, 2); }
  int64_t tile_columns() const { return DivideUp(conv.out_columns, 2); }
  int64_t tiles() const { return conv.images * tile_rows() * tile_columns(); }
  size_t filter_bytes() const;           // what TransformFilter writes
  size_t convolve_bytes() const;         // scratch memory
  size_t filter_gradient_bytes() const;  // scratch memory
};
//   threads: at least 1.
WinogradPlan MakeWinogradPlan(const Convolution& conv, int threads);

// Transforms a filter [3, 3, in_channels, out_channels] for WinogradConvolve. `transposed`: the
// filter is [3, 3, out_channels, in_channels], and is reversed.
//   result: plan.filter_bytes(), aligned to 64 bytes.
// REQUIRES: IsAvailable() (tiles.h).
void TransformFilter(const WinogradPlan& plan, const Bfloat16* filter, bool transposed,
                     Bfloat16* result);

// y = conv(x, filter).
//   filter: what TransformFilter wrote.  scratch: plan.convolve_bytes(), aligned to 64 bytes.
// REQUIRES: IsAvailable() (tiles.h).
void WinogradConvolve(const WinogradPlan& plan, const Bfloat16* x, const Bfloat16* filter,
                      Bfloat16* y, void* scratch);

// The gradient of the filter, [3, 3, in_channels, out_channels].
//   scratch: plan.filter_gradient_bytes(), aligned to 64 bytes.
// REQUIRES: IsAvailable() (tiles.h).
void WinogradFilterGradient(const WinogradPlan& plan, const Bfloat16* x, const Bfloat16* dy,
                            float* dfilter, void* scratch);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_WINOGRAD_H_
