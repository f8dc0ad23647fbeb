// Choose layouts: activations between convolutions are kept in blocks of channels where oneDNN
// prefers that (see kernels/layout.h).
//
// The rule: only programs with weights' gradients change layout, since they gain and forward
// passes do not. In those, node by node in order:
//   - a convolution (and its gradients) is in blocks of 16 channels where its kernel takes that,
//     which it does only if oneDNN chooses it by itself (format_tag::any) on this CPU: AVX-512;
//   - an element-wise op, pool, bias or batch normalization follows its inputs: blocked if one of
//     them is and its kernel can, since the others then cost one reorder at most;
//   - everything else, fetches and updates see NHWC.
// Where the two meet stands a _Reorder, one for all readers of the same value. Images of at most
// three channels are NCHW to a convolution, which with one channel costs nothing.
//
// Measured with oneDNN 2.6.3 on one core (CPU ms, NHWC and blocked), sum of oneDNN's primitives:
//   AVX-512  MNIST's network, batch 1024: 532, 457; batch 128: 58.9, 56.1
//            eight of ResNet-50's convolutions, batch 16: forward 101.6, 101.8; gradients 272, 223
//   AVX2     MNIST's second convolution, batch 128: 66.0, 62.4; its first's gradient 3.9, 13.3
// Filters stay in their own layout between steps: each convolution reorders its filter inside
// itself, 0.1 % of MNIST's step and 2 % of ResNet-50's (25 M weights, three reorders at 20 GB/s),
// and the gradients' filters want other layouts than the forward ones, so that a variable held in
// one of them would save a third of that.
#ifndef ESTIMATOR_RUNTIME_PASSES_CHOOSE_LAYOUTS_H_
#define ESTIMATOR_RUNTIME_PASSES_CHOOSE_LAYOUTS_H_

#include "estimator/kernels/kernel.h"
#include "estimator/runtime/ir.h"

namespace estimator::ir {

// After fusing, before ProtectReads.
void ChooseLayouts(Module& module, KernelTier fastest);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_CHOOSE_LAYOUTS_H_
