// The kernels of the native tier for convolutions of f32.
#ifndef ESTIMATOR_KERNELS_WINOGRAD_KERNELS_H_
#define ESTIMATOR_KERNELS_WINOGRAD_KERNELS_H_

#include <memory>

#include "estimator/kernels/kernel.h"

namespace estimator::winograd {

// Images are NHWC or in blocks of 16 channels; stride 1, no dilation, no groups. Accepts... says whether a
// spec is supported, and Make... returns null if it is not. kernel_rules.h says where they are fast.

// Winograd's algorithm: filters of 3x3 and 5x5, and any numbers of channels.
// Conv2D, _FusedConv2D, _FusedConv2DMaxPool (kernels/conv_block.h)
bool AcceptsConvolution(const KernelSpec& spec);
std::unique_ptr<Kernel> MakeConvolution(const KernelSpec& spec);
// Conv2DBackpropInput, _Conv2DMaxPoolBackpropInput
bool AcceptsInputGradient(const KernelSpec& spec);
std::unique_ptr<Kernel> MakeInputGradient(const KernelSpec& spec);
// Conv2DBackpropFilter, _FusedConv2DBackpropFilter, _Conv2DMaxPoolBackpropFilter
bool AcceptsFilterGradient(const KernelSpec& spec);
std::unique_ptr<Kernel> MakeFilterGradient(const KernelSpec& spec);

// First layers (first_layer.h): a few channels of the image, and a pool.
// _FusedConv2DMaxPool
bool AcceptsFirstLayer(const KernelSpec& spec);
std::unique_ptr<Kernel> MakeFirstLayer(const KernelSpec& spec);
// _Conv2DMaxPoolBackpropFilter
bool AcceptsFirstLayerFilterGradient(const KernelSpec& spec);
std::unique_ptr<Kernel> MakeFirstLayerFilterGradient(const KernelSpec& spec);

}  // namespace estimator::winograd

#endif  // ESTIMATOR_KERNELS_WINOGRAD_KERNELS_H_
