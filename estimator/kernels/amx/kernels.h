// Kernels of the native tier that use AMX.
#ifndef ESTIMATOR_KERNELS_AMX_KERNELS_H_
#define ESTIMATOR_KERNELS_AMX_KERNELS_H_

#include <memory>

#include "estimator/kernels/kernel.h"

namespace estimator::amx {

// Conv2DBackpropFilter: x, filter_sizes, dy -> dfilter. x and dy are bf16 and NHWC, dfilter is f32 or
// bf16. Any stride and padding, no dilation, no groups.
// Returns null for other specs, without AMX, and where the rule of the kernel chooses another one:
//   - images of fewer than 16 channels, before or after the convolution, would fill few of the 32
//     channels of a tile;
//   - ConvAlgorithm::kWinograd asks for Winograd's algorithm, which computes filters of 3x3 and 5x5.
std::unique_ptr<Kernel> MakeFilterGradient(const KernelSpec& spec);

}  // namespace estimator::amx

#endif  // ESTIMATOR_KERNELS_AMX_KERNELS_H_
