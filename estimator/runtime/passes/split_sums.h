// Splits sums of many values, so that few of them are in memory at a time.
#ifndef ESTIMATOR_RUNTIME_PASSES_SPLIT_SUMS_H_
#define ESTIMATOR_RUNTIME_PASSES_SPLIT_SUMS_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// The gradient of a weight that a network uses in T time steps is one AddN of T parts, and each
// part is as large as the weight. Here an AddN of more than 8 values becomes a chain
//   AddN(AddN(x0, ..., x7), x8, ..., x14), ...
// in which each link is placed directly behind its last part. The order of the additions does not
// change, and so the result has the same bits. 16-bit floats are left alone: each link would round.
void SplitSums(Module& module);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_SPLIT_SUMS_H_
