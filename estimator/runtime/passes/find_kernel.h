// Finds the kernel of a node that a fusing pass has made.
#ifndef ESTIMATOR_RUNTIME_PASSES_FIND_KERNEL_H_
#define ESTIMATOR_RUNTIME_PASSES_FIND_KERNEL_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// Finds a kernel that accepts `node`, in a tier from `slowest` to `fastest`, and sets it as the
// node's kernel. Returns false if there is none.
bool FindKernel(const Module& module, Node& node, KernelTier fastest,
                KernelTier slowest = KernelTier::kReference);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_FIND_KERNEL_H_
