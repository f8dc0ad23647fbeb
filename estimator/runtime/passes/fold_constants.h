// Fold constants: computes the nodes that depend on no feed, variable or random op when the program
// is compiled, with the reference kernels.
#ifndef ESTIMATOR_RUNTIME_PASSES_FOLD_CONSTANTS_H_
#define ESTIMATOR_RUNTIME_PASSES_FOLD_CONSTANTS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "estimator/runtime/ir.h"

namespace estimator::ir {

// Shape, Size and Rank are constants for any input.
//   max_elements: a larger value is computed at run time, unless it is not larger than its inputs
//   together, because a constant needs memory as long as the program exists.
// Errors: errors of the kernels, with the node's name (an index out of range in a constant Gather).
absl::Status FoldConstants(Module& module, int64_t max_elements = 4096);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_FOLD_CONSTANTS_H_
