// Max pools by 2x2 windows that touch edge to edge, a row of windows at a time, vectorised over
// channels for the CPU at run time. A window's taps are numbered 0 1 / 2 3; the first maximum wins.
#ifndef ESTIMATOR_KERNELS_FUSED_POOL_2X2_H_
#define ESTIMATOR_KERNELS_FUSED_POOL_2X2_H_

#include <cstdint>

namespace estimator::fused {

// Whether `channels` fill whole vectors; the functions below REQUIRE it.
bool Pool2x2Takes(int64_t channels);

// top, bottom: [2 * windows, channels].  y, argmax: [windows, channels]; argmax may be null.
void MaxPool2x2Row(const float* top, const float* bottom, int64_t windows, int64_t channels,
                   float* y, uint8_t* argmax);

// argmax, dy, y: [windows, channels]; the gradient passes where y > 0, or everywhere with y null.
// Writes dx_top, dx_bottom: [2 * windows, channels].
void MaxPool2x2GradRow(const uint8_t* argmax, const float* dy, const float* y, int64_t windows,
                       int64_t channels, float* dx_top, float* dx_bottom);

}  // namespace estimator::fused

#endif  // ESTIMATOR_KERNELS_FUSED_POOL_2X2_H_
