// Kernels of the native tier that use AMX.
#ifndef ESTIMATOR_KERNELS_AMX_KERNELS_H_
#define ESTIMATOR_KERNELS_AMX_KERNELS_H_

#include <memory>

#include "estimator/kernels/kernel.h"

namespace estimator::amx {

// The images and filters of all of these are bf16 and NHWC. They have no dilation and no groups. Each
// returns null for other specs, without AMX, and for images of fewer than 16 channels, before or
// after the convolution, which would fill few of the 32 channels of two tiles.

// Conv2D: x, filter -> y.  Conv2DBackpropInput: sizes, filter, dy -> dx. Stride 1, or filters of 1x1
// without padding.
std::unique_ptr<Kernel> MakeConvolution(const KernelSpec& spec);
std::unique_ptr<Kernel> MakeInputGradient(const KernelSpec& spec);

// Conv2DBackpropFilter: x, filter_sizes, dy -> dfilter, which is f32 or bf16.
// Returns null also if ConvAlgorithm::kWinograd asks for Winograd's algorithm, unless the filter is
// 1x1.
std::unique_ptr<Kernel> MakeFilterGradient(const KernelSpec& spec);

}  // namespace estimator::amx

#endif  // ESTIMATOR_KERNELS_AMX_KERNELS_H_
