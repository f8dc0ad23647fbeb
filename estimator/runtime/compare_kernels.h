// --check_kernels: an instruction's outputs against those of the reference kernels.
#ifndef ESTIMATOR_RUNTIME_COMPARE_KERNELS_H_
#define ESTIMATOR_RUNTIME_COMPARE_KERNELS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/runtime/ir.h"

namespace estimator::ir {

// The ops that `node` stands for (its own, or those that were fused into it) and that no reference
// kernel computes with these types and shapes. If there are any, it cannot be checked.
std::vector<std::string> OpsWithoutReference(const Node& node, const KernelSpec& spec);

// "Foo (2), Bar (1)"
std::string CountedOps(const std::map<std::string, int>& counts);

// Runs what `node` stands for on `inputs` and compares.
//   f32 and f64: 1e-3 of the element plus 1e-3 of the tensor's rms, since a sum of n products in
//   another order errs by the rms of its terms; 16-bit types: 2e-2 of both; integers: equal.
// Errors: INTERNAL naming the op and the worst element; UNIMPLEMENTED if OpsWithoutReference.
absl::Status CheckAgainstReference(const Node& node, const KernelSpec& spec,
                                   const std::vector<Array>& inputs,
                                   const std::vector<Array>& outputs, const StepContext& step);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_COMPARE_KERNELS_H_
