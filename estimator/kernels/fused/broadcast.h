// Binary element-wise ops whose operands broadcast (a bias for each row, a factor for each column,
// a mask for each batch), and BroadcastTo. f32, parallel over rows; tile_ops.h has the ops and
// their accuracy.
#ifndef ESTIMATOR_KERNELS_FUSED_BROADCAST_H_
#define ESTIMATOR_KERNELS_FUSED_BROADCAST_H_

#include "estimator/kernels/kernel.h"

namespace estimator::fused {

// Returns null if the op is not a binary op on numbers in tile_ops.h, or a dtype is not f32.
KernelPlan MakeBroadcastKernel(const KernelSpec& spec);

}  // namespace estimator::fused

#endif  // ESTIMATOR_KERNELS_FUSED_BROADCAST_H_
