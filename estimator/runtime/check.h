// --check_kernels: an instruction's outputs against those of the reference kernels.
#ifndef ESTIMATOR_RUNTIME_CHECK_H_
#define ESTIMATOR_RUNTIME_CHECK_H_

#include <vector>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/runtime/ir.h"

namespace estimator::ir {

// Runs what `node` stands for on `inputs` (its own op, or the ops that were fused into it) and
// compares.
//   f32 and f64: 1e-3 of the element plus 1e-3 of the tensor's rms, since a sum of n products in
//   another order errs by the rms of its terms; 16-bit types: 2e-2 of both; integers: equal.
// Errors: INTERNAL naming the node, the op and the worst element.
absl::Status CheckAgainstReference(const Node& node, const KernelSpec& spec,
                                   const std::vector<Array>& inputs,
                                   const std::vector<Array>& outputs, const StepContext& step);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_CHECK_H_
