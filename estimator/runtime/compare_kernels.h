// For --check_kernels: compares the outputs of an instruction with those of the reference kernels.
#ifndef ESTIMATOR_RUNTIME_COMPARE_KERNELS_H_
#define ESTIMATOR_RUNTIME_COMPARE_KERNELS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/runtime/ir.h"

namespace estimator::ir {

// Returns the ops of `node` (its own, or those that were fused into it) for which no reference
// kernel accepts the types and shapes. If there are any, the node cannot be checked.
std::vector<std::string> OpsWithoutReference(const Node& node, const KernelSpec& spec);

// Formats counts for messages: "Foo (2), Bar (1)".
std::string CountedOps(const std::map<std::string, int>& counts);

// Runs the ops of `node` on `inputs` with the reference kernels and compares the results with
// `outputs`.
//   f32 and f64: 1e-3 of the element plus 1e-3 of the tensor's rms, because a sum of n products in
//                another order has an error of the size of the rms of its terms
//   16-bit types: 2e-2 of both
//   what Winograd's algorithm may compute in bf16 (convolutions of 3x3 and their gradients): 1e-1
//   integers: equal, except the argmax of a convolution block (compare_argmax.h)
// Errors: INTERNAL naming the op and the worst element; UNIMPLEMENTED if OpsWithoutReference finds
// any.
absl::Status CheckAgainstReference(const Node& node, const KernelSpec& spec,
                                   const std::vector<Array>& inputs,
                                   const std::vector<Array>& outputs, const StepContext& step);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_COMPARE_KERNELS_H_
