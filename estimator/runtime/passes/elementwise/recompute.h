// Rewrites before element-wise ops are fused, so that fewer values are written to memory.
#ifndef ESTIMATOR_RUNTIME_PASSES_ELEMENTWISE_RECOMPUTE_H_
#define ESTIMATOR_RUNTIME_PASSES_ELEMENTWISE_RECOMPUTE_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// AddN of up to four f32 values -> AddV2(AddV2(x0, x1), x2), which is fused as other element-wise
// ops are. The order of the additions stays. A larger AddN stays: it is part of a sum that
// SplitSums has split, and fusing its parts would keep all of them in memory.
void SplitAddN(Module& module);

// The gradient of an activation reads values that the forward pass computed: of a GELU that is not
// one op (transformer/fuse_transformer.h), the tanh, the square and two products. Each would be
// written by the forward chain and kept until the gradient. Here the gradient's chain computes them
// again, with the same bits, from what the forward chain reads. This happens if
//   - no other node reads these values,
//   - what the gradient's chain must read instead has fewer bytes,
//   - the chain stays short enough for one kernel, and has no Pow, which is slow.
void RecomputeElementwise(Module& module);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_ELEMENTWISE_RECOMPUTE_H_
