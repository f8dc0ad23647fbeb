// Max pools with adjacent 2x2 windows, one row of windows at a time, vectorised over the channels
// for the CPU at run time. The taps of a window are numbered 0 1 / 2 3; the first maximum is taken.
#ifndef ESTIMATOR_KERNELS_FUSED_POOL_2X2_H_
#define ESTIMATOR_KERNELS_FUSED_POOL_2X2_H_

#include <cstdint>

namespace estimator::fused {

// Whether `channels` fills whole vectors. The functions below REQUIRE it.
bool Pool2x2Takes(int64_t channels);

//   top, bottom: [2 * windows, channels].  y, argmax: [windows, channels].  argmax may be null.
void MaxPool2x2Row(const float* top, const float* bottom, int64_t windows, int64_t channels,
                   float* y, uint8_t* argmax);

//   argmax, dy, y: [windows, channels]. The gradient flows only if y > 0; if y is null, always.
// Writes dx_top and dx_bottom: [2 * windows, channels].
void MaxPool2x2GradRow(const uint8_t* argmax, const float* dy, const float* y, int64_t windows,
                       int64_t channels, float* dx_top, float* dx_bottom);

}  // namespace estimator::fused

#endif  // ESTIMATOR_KERNELS_FUSED_POOL_2X2_H_
