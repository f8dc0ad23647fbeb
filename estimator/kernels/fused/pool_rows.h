// Max pools of f32 and bf16 images and their gradients, a row of pixels at a time, for any window,
// stride and number of channels. Vectorised for the CPU at run time (AVX2 or AVX-512).
//
// An argmax is the tap r * columns.kernel + s of the first maximum of a window in row-major order.
// A NaN is a maximum only if it is the first tap in the image: no comparison with NaN is true.
#ifndef ESTIMATOR_KERNELS_FUSED_POOL_ROWS_H_
#define ESTIMATOR_KERNELS_FUSED_POOL_ROWS_H_

#include <cstdint>

#include "estimator/array/half.h"
#include "estimator/kernels/window.h"

namespace estimator::fused {

// A pool over images x [H, W, C] with results y [P, Q, C]. H, W, P and Q are in the windows, which
// have no dilation. Every window has a tap in the image.
struct PoolWindows {
  int64_t channels = 0;
  Window rows = {}, columns = {};
};

// Writes row p of the maxima.
//   x: [H, W, C].  y: [Q, C], the row.  argmax: u8 [Q, C], the row, or null.
void MaxPoolRow(const PoolWindows& pool, const float* x, int64_t p, float* y, uint8_t* argmax);
void MaxPoolRow(const PoolWindows& pool, const Bfloat16* x, int64_t p, Bfloat16* y,
                uint8_t* argmax);

// Finds the argmax of row p from the maxima: the first tap that equals them, or else the last tap.
//   x: [H, W, C].  y, argmax: [Q, C], the row.
void FindTapsRow(const PoolWindows& pool, const float* x, int64_t p, const float* y,
                 uint8_t* argmax);
void FindTapsRow(const PoolWindows& pool, const Bfloat16* x, int64_t p, const Bfloat16* y,
                 uint8_t* argmax);

// Writes row h of the gradient of x: the sum of dy over the windows whose argmax is the element, in
// row-major order of the windows. The sum is in f32 and is rounded once.
//   argmax, dy: [P, Q, C].  y: null, or [P, Q, C]: the gradient flows only where y > 0.
//   dx: [W, C], the row.
void MaxPoolGradientRow(const PoolWindows& pool, const uint8_t* argmax, const float* dy,
                        const float* y, int64_t h, float* dx);
void MaxPoolGradientRow(const PoolWindows& pool, const uint8_t* argmax, const Bfloat16* dy,
                        const Bfloat16* y, int64_t h, Bfloat16* dx);

// Whether every input is in exactly one window.
bool Tiles(const PoolWindows& pool);

// Writes the rows of the gradient of x that are in the windows of row p: the same, where dy is read
// once instead of once for each tap.
//   argmax, dy, y: as above.  dx: [rows.kernel, W, C], the rows.
// REQUIRES: Tiles(pool).
void MaxPoolGradientTileRows(const PoolWindows& pool, const uint8_t* argmax, const float* dy,
                             const float* y, int64_t p, float* dx);
void MaxPoolGradientTileRows(const PoolWindows& pool, const uint8_t* argmax, const Bfloat16* dy,
                             const Bfloat16* y, int64_t p, Bfloat16* dx);

}  // namespace estimator::fused

#endif  // ESTIMATOR_KERNELS_FUSED_POOL_ROWS_H_
