// Kernels of the native tier for convolutions of bf16 by Winograd's algorithm (winograd.h).
#ifndef ESTIMATOR_KERNELS_BFLOAT16_WINOGRAD_KERNELS_H_
#define ESTIMATOR_KERNELS_BFLOAT16_WINOGRAD_KERNELS_H_

#include <memory>

#include "estimator/kernels/kernel.h"

namespace estimator::bfloat16 {

// Images are NHWC, and they and filters are bf16. Filters are 3x3, with stride 1 and no dilation. The
// numbers of channels are multiples of 32. Accepts... refuses other specs, ConvAlgorithm::kDirect, and CPUs
// without AVX-512 for bf16. Make... returns null for what Accepts... refuses.

// Conv2D: x, filter -> y, in bf16.
bool AcceptsWinogradConvolution(const KernelSpec& spec);
std::unique_ptr<Kernel> MakeWinogradConvolution(const KernelSpec& spec);
// Conv2DBackpropInput: sizes, filter, dy -> dx, in bf16.
bool AcceptsWinogradInputGradient(const KernelSpec& spec);
std::unique_ptr<Kernel> MakeWinogradInputGradient(const KernelSpec& spec);
// Conv2DBackpropFilter: x, filter_sizes, dy -> dfilter, in f32 or bf16.
bool AcceptsWinogradFilterGradient(const KernelSpec& spec);
std::unique_ptr<Kernel> MakeWinogradFilterGradient(const KernelSpec& spec);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_WINOGRAD_KERNELS_H_
