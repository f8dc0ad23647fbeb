// The kernels of the native tier for convolutions of f32.
#ifndef ESTIMATOR_KERNELS_WINOGRAD_KERNELS_H_
#define ESTIMATOR_KERNELS_WINOGRAD_KERNELS_H_

#include <memory>

#include "estimator/kernels/kernel.h"

namespace estimator::winograd {

// Images are NHWC or in blocks of 16 channels; stride 1, no dilation, no groups. Each function
// returns null for other specs, and where the rule (rule.h) prefers the direct algorithm.

// Conv2D, _FusedConv2D, _FusedConv2DMaxPool (kernels/conv_block.h)
std::unique_ptr<Kernel> MakeConvolution(const KernelSpec& spec);
// Conv2DBackpropInput, _Conv2DMaxPoolBackpropInput
std::unique_ptr<Kernel> MakeInputGradient(const KernelSpec& spec);
// Conv2DBackpropFilter, _FusedConv2DBackpropFilter, _Conv2DMaxPoolBackpropFilter
std::unique_ptr<Kernel> MakeFilterGradient(const KernelSpec& spec);

}  // namespace estimator::winograd

#endif  // ESTIMATOR_KERNELS_WINOGRAD_KERNELS_H_
