// Select kernels: every node that runs gets the fastest kernel that takes its spec.
#ifndef ESTIMATOR_RUNTIME_PASSES_SELECT_KERNELS_H_
#define ESTIMATOR_RUNTIME_PASSES_SELECT_KERNELS_H_

#include "absl/status/status.h"
#include "estimator/runtime/ir.h"

namespace estimator::ir {

// A copy of the input's bytes, which must not be overwritten: what makes a fetch of a variable
// that the step changes safe. Has no kernel in the registry.
inline constexpr char kCopyOp[] = "_Copy";
inline constexpr char kCollectiveOp[] = "CrossReplicaSum";

// Views and collectives have no kernel. Nodes that have a kernel already keep it.
// Errors: UNIMPLEMENTED naming every op and node without a kernel.
absl::Status SelectKernels(Module& module, KernelTier fastest);

// Copies `n` elements (strings too) between buffers that do not overlap.
void CopyElements(DType dtype, int64_t n, const void* from, void* to);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_SELECT_KERNELS_H_
