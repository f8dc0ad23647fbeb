// For tests of compiler passes: gives an op a kernel in the native tier, whatever the machine.
#ifndef ESTIMATOR_KERNELS_TESTING_REFERENCE_AS_NATIVE_H_
#define ESTIMATOR_KERNELS_TESTING_REFERENCE_AS_NATIVE_H_

#include <functional>

#include "absl/strings/string_view.h"
#include "estimator/kernels/kernel.h"

namespace estimator {

// Registers the reference kernel of `op` as its native kernel, for specs that `accepts` takes. Call
// it before main. A test that does so must not link the op's real native kernel.
inline bool RegisterReferenceAsNative(absl::string_view op,
                                      const std::function<bool(const KernelSpec&)>& accepts) {
  return RegisterKernel(op, KernelTier::kNative, [accepts](const KernelSpec& spec) -> KernelPlan {
    if (!accepts(spec) || !Accepts(spec, KernelTier::kReference)) return nullptr;
    return [spec] { return *CreateKernel(spec, KernelTier::kReference); };
  });
}

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_TESTING_REFERENCE_AS_NATIVE_H_
