#include "estimator/runtime/passes/find_kernel.h"

#include <memory>
#include <utility>

namespace estimator::ir {

bool FindKernel(const Module& module, Node& node, KernelTier fastest, KernelTier slowest) {
  if (fastest == KernelTier::kReference) return false;  // it has only plain ops
  absl::StatusOr<std::unique_ptr<Kernel>> kernel =
      CreateKernel(SpecOf(module, node), fastest, slowest);
  if (!kernel.ok()) return false;
  node.kernel = *std::move(kernel);
  return true;
}

}  // namespace estimator::ir
