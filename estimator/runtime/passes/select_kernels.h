// Select kernels: gives every node that runs the fastest kernel that accepts its spec.
#ifndef ESTIMATOR_RUNTIME_PASSES_SELECT_KERNELS_H_
#define ESTIMATOR_RUNTIME_PASSES_SELECT_KERNELS_H_

#include "absl/status/status.h"
#include "estimator/runtime/ir.h"

namespace estimator::ir {

// A copy of the input's bytes into memory that no update overwrites. A fetch of a variable that the
// step changes needs it. It has no kernel in the registry.
inline constexpr char kCopyOp[] = "_Copy";
inline constexpr char kCollectiveOp[] = "CrossReplicaSum";

// Skips views and collectives, and nodes that already have a kernel.
// Errors: UNIMPLEMENTED naming every op and node without a kernel.
absl::Status SelectKernels(Module& module, KernelTier fastest);

// Copies `n` elements, also of strings, between buffers that do not overlap.
void CopyElements(DType dtype, int64_t n, const void* from, void* to);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_SELECT_KERNELS_H_
