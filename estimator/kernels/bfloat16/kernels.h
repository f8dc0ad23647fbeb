// Kernels of the native tier for convolutions of bf16 and f32 by products of tiles (tiles.h).
// Numbers of f32 are split into two of bf16 (convolve.h). For matrix products see matmul_kernel.h.
#ifndef ESTIMATOR_KERNELS_BFLOAT16_KERNELS_H_
#define ESTIMATOR_KERNELS_BFLOAT16_KERNELS_H_

#include "estimator/kernels/conv_spec.h"

namespace estimator::bfloat16 {

// Images are NHWC. Those of bf16 have results in bf16 or f32; those of f32 are supported only with
// ConvAlgorithm::kAuto. Convolutions have no dilation and no groups; pools are of adjacent windows
// of 2x2 that cover the image. The functions return null for other specs, for CPUs without AVX-512
// for bf16, and for results of fewer than 16 channels, which would fill few of the 32 channels of
// two tiles. kernel_rules.h says where these kernels are fast.

// Stride 1, or filters of 1x1 without padding, or fewer than 16 channels of x in bf16. Epilogues: a
// bias, a side input in f32, relu or relu6.
KernelPlan MakeConvolution(const ConvSpec& spec);

// Stride 1, or filters of 1x1 without padding; at least 16 channels of dx and dy.
KernelPlan MakeInputGradient(const ConvSpec& spec);

// Refused also if ConvAlgorithm::kWinograd asks for Winograd's algorithm, unless the filter is 1x1.
KernelPlan MakeFilterGradient(const ConvSpec& spec);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_KERNELS_H_
