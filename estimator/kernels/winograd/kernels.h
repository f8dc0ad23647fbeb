// The kernels of the native tier for convolutions of f32.
#ifndef ESTIMATOR_KERNELS_WINOGRAD_KERNELS_H_
#define ESTIMATOR_KERNELS_WINOGRAD_KERNELS_H_

#include "estimator/kernels/conv_spec.h"

namespace estimator::winograd {

// Images are NHWC or in blocks of 16 channels; stride 1, no dilation, no groups. Each function
// accepts what its folder can compute, and returns null for other specs. kernel_rules.h says where
// these kernels are fast.

// Winograd's algorithm: filters of 3x3 and 5x5, and any numbers of channels.
KernelPlan MakeConvolution(const ConvSpec& spec);
KernelPlan MakeInputGradient(const ConvSpec& spec);
KernelPlan MakeFilterGradient(const ConvSpec& spec);

// First layers (first_layer.h): a few channels of the image, and a pool.
KernelPlan MakeFirstLayer(const ConvSpec& spec);
KernelPlan MakeFirstLayerFilterGradient(const ConvSpec& spec);

}  // namespace estimator::winograd

#endif  // ESTIMATOR_KERNELS_WINOGRAD_KERNELS_H_
