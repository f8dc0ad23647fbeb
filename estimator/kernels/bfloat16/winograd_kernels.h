// Kernels of the native tier for convolutions of bf16 by Winograd's algorithm (winograd.h).
#ifndef ESTIMATOR_KERNELS_BFLOAT16_WINOGRAD_KERNELS_H_
#define ESTIMATOR_KERNELS_BFLOAT16_WINOGRAD_KERNELS_H_

#include "estimator/kernels/conv_spec.h"

namespace estimator::bfloat16 {

// Images are NHWC, and they and filters are bf16; the gradient of a filter may be f32. Filters are
// 3x3, with stride 1, no dilation and nothing fused. The numbers of channels are multiples of 32.
// The functions return null for other specs, ConvAlgorithm::kDirect, and CPUs without AVX-512 for
// bf16.
KernelPlan MakeWinogradConvolution(const ConvSpec& spec);
KernelPlan MakeWinogradInputGradient(const ConvSpec& spec);
KernelPlan MakeWinogradFilterGradient(const ConvSpec& spec);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_WINOGRAD_KERNELS_H_
