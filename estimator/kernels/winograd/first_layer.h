// The first layer of a network on images: a convolution of few input channels with bias, relu and
// a 2x2 max pool, by the direct algorithm. Winograd's has matrix products over the input channels,
// which are too few here.
#ifndef ESTIMATOR_KERNELS_WINOGRAD_FIRST_LAYER_H_
#define ESTIMATOR_KERNELS_WINOGRAD_FIRST_LAYER_H_

#include <cstddef>
#include <cstdint>

#include "estimator/kernels/winograd/winograd.h"

namespace estimator::winograd {

inline constexpr int64_t kMostFirstLayerChannels = 4;
inline constexpr int64_t kMostFirstLayerTaps = 7;  // of a row or column of the filter

// x is NHWC.
// REQUIRES: stride 1; out_rows and out_columns are even; in blocks, out_channels is a multiple of
// 16.
struct FirstLayer {
  Convolution conv;  // before the pool
  Strides pooled;    // of the pooled images
};

// The scratch memory of both functions, in floats.
size_t FirstLayerFloats(const FirstLayer& layer);

// Writes y and argmax as Convolve does (winograd.h).
//   filter: [filter_rows, filter_columns, in_channels, out_channels].
void FirstLayerForward(const FirstLayer& layer, const float* x, const float* filter,
                       const float* bias, float* y, uint8_t* argmax, float* scratch);

// The gradients of filter and bias from that of y.
void FirstLayerFilterGradient(const FirstLayer& layer, const float* x, const float* dy,
                              const uint8_t* argmax, float* filter, float* bias, float* scratch);

}  // namespace estimator::winograd

#endif  // ESTIMATOR_KERNELS_WINOGRAD_FIRST_LAYER_H_
