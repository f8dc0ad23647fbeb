// Choose layouts: keeps activations between convolutions in blocks of channels if oneDNN prefers
// that (see kernels/layout.h).
//
// Only programs with gradients of weights change layouts, because forward passes alone gain
// nothing. In such a program, node by node in order:
//   - A convolution (or its gradient) is in blocks of 16 channels if its kernel accepts that. The
//     kernel does so only if oneDNN itself chooses this layout (format_tag::any) on this CPU, that
//     is, on AVX-512.
//   - Kernels of our own (KernelTier::kNative) are as fast in NHWC. A convolution with such a
//     kernel follows its inputs. Some know only NHWC: those of kernels/bfloat16, and all of them
//     for channels that fill no block. If these are more than the convolutions that choose blocks,
//     nothing is in blocks.
//   - An element-wise op, pool, bias or batch normalization follows its inputs: it is blocked if an
//     input is and its kernel accepts blocks. Then each of the other inputs costs at most one
//     reorder.
//   - All other ops, fetches and updates use NHWC.
// A _Reorder converts between the two, once for all readers of a value. A convolution's images of
// at most three channels are NCHW; for one channel the conversion is free.
//
// Measured with oneDNN 2.6.3 on one core, CPU ms as the sum of oneDNN's primitives:
//                                                                   NHWC   blocked
//   AVX-512   MNIST's network, batch 1024                           532     457
//             MNIST's network, batch 128                             58.9    56.1
//             8 convolutions of ResNet-50, batch 16, forward        101.6   101.8
//             8 convolutions of ResNet-50, batch 16, gradients      272     223
//   AVX2      MNIST's second convolution, batch 128                  66.0    62.4
//             the gradient of MNIST's first convolution               3.9    13.3
// Filters keep their own layout between steps: each convolution reorders its filter itself. This
// takes 0.1 % of MNIST's step and 2 % of ResNet-50's (25 M weights, three reorders at 20 GB/s).
// Gradients of filters need other layouts than the filters in the forward pass, so a variable that
// is stored in one of these layouts would save a third of that.
#ifndef ESTIMATOR_RUNTIME_PASSES_CHOOSE_LAYOUTS_H_
#define ESTIMATOR_RUNTIME_PASSES_CHOOSE_LAYOUTS_H_

#include "estimator/kernels/kernel.h"
#include "estimator/runtime/ir.h"

namespace estimator::ir {

// Runs after Fuse and before ProtectReads.
void ChooseLayouts(Module& module, KernelTier fastest);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_CHOOSE_LAYOUTS_H_
