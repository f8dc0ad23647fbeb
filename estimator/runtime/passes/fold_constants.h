// Fold constants: what depends on no feed, variable or random op is computed once, when the
// program is compiled, by the reference kernels.
#ifndef ESTIMATOR_RUNTIME_PASSES_FOLD_CONSTANTS_H_
#define ESTIMATOR_RUNTIME_PASSES_FOLD_CONSTANTS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "estimator/runtime/ir.h"

namespace estimator::ir {

// Shape, Size and Rank are constants whatever their input. A value of more than
// `max_elements` elements stays computed at run time, unless it is no larger than its inputs
// together: a constant costs memory for as long as the program lives.
// Errors: those of the kernels, with the node's name (an index out of range in a constant Gather).
absl::Status FoldConstants(Module& module, int64_t max_elements = 4096);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_FOLD_CONSTANTS_H_
