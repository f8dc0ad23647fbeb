// The native tier: our own matrix products and convolutions. It registers one kernel for each of their ops.
// That is the first one of the list in kernel_rules.h that accepts the spec.
#ifndef ESTIMATOR_KERNELS_NATIVE_TIER_H_
#define ESTIMATOR_KERNELS_NATIVE_TIER_H_

#include <optional>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/kernel_rules.h"

namespace estimator {

// The instructions of this CPU that kernels may use.
CpuFeatures ThisCpu();

// What the native tier computes the spec with; nullopt if it leaves the spec to oneDNN. Builds nothing.
std::optional<NativeKernel> NativeKernelOf(const KernelSpec& spec);

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_NATIVE_TIER_H_
