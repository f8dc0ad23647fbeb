// Kernels of the native tier for convolutions of bf16 and f32 by products of tiles (tiles.h). Numbers of
// f32 are split into two of bf16 (convolve.h). For matrix products see matmul_kernel.h.
#ifndef ESTIMATOR_KERNELS_BFLOAT16_KERNELS_H_
#define ESTIMATOR_KERNELS_BFLOAT16_KERNELS_H_

#include <memory>

#include "estimator/kernels/kernel.h"

namespace estimator::bfloat16 {

// Images are NHWC. Those of bf16 have results in bf16 or f32; those of f32 are supported only with
// ConvAlgorithm::kAuto. Convolutions have no dilation and no groups; pools are of adjacent windows of
// 2x2 that cover the image. Accepts... refuses other specs, CPUs without AVX-512 for bf16, and results of
// fewer than 16 channels, which would fill few of the 32 channels of two tiles. Make... returns null for what
// Accepts... refuses. kernel_rules.h says where these kernels are fast.

// Conv2D, _FusedConv2D: x, filter, bias -> y.  _FusedConv2DMaxPool (kernels/conv_block.h). Stride 1,
// or filters of 1x1 without padding, or fewer than 16 channels of x in bf16. Epilogues: a bias, a side
// input in f32, relu or relu6.
bool AcceptsConvolution(const KernelSpec& spec);
std::unique_ptr<Kernel> MakeConvolution(const KernelSpec& spec);

// Conv2DBackpropInput: sizes, filter, dy -> dx.  _Conv2DMaxPoolBackpropInput. Stride 1, or filters of
// 1x1 without padding; at least 16 channels of dx and dy.
bool AcceptsInputGradient(const KernelSpec& spec);
std::unique_ptr<Kernel> MakeInputGradient(const KernelSpec& spec);

// Conv2DBackpropFilter: x, filter_sizes, dy -> dfilter.  _FusedConv2DBackpropFilter,
// _Conv2DMaxPoolBackpropFilter.
// Refused also if ConvAlgorithm::kWinograd asks for Winograd's algorithm, unless the filter is 1x1.
bool AcceptsFilterGradient(const KernelSpec& spec);
std::unique_ptr<Kernel> MakeFilterGradient(const KernelSpec& spec);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_KERNELS_H_
