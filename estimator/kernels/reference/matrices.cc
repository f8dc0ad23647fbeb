#include "estimator/kernels/reference/matrices.h"

#include <map>
#include <string>
#include <utility>

namespace estimator {

bool RegisterMatrixKernel(const char* op, DType dtype, KernelFactory factory) {
  // Never deleted: kernels may be made while the process ends.
  static auto& factories = *new std::map<std::string, std::map<DType, KernelFactory>>;
  std::map<DType, KernelFactory>& of_op = factories[op];
  // The registry has one reference kernel for an op, so the first type registers it for all.
  if (of_op.empty()) {
    RegisterKernel(op, KernelTier::kReference, [&of_op](const KernelSpec& spec) -> KernelPlan {
      const auto found = of_op.find(spec.inputs[0].dtype);
      return found == of_op.end() ? nullptr : found->second(spec);
    });
  }
  of_op[dtype] = std::move(factory);
  return true;
}

}  // namespace estimator
