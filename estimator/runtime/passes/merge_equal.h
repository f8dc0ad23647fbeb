// Merge equal: nodes with the same op, attributes and inputs compute the same value once.
#ifndef ESTIMATOR_RUNTIME_PASSES_MERGE_EQUAL_H_
#define ESTIMATOR_RUNTIME_PASSES_MERGE_EQUAL_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// Stateful nodes (random ops) stay apart. The first of equal nodes stays.
void MergeEqual(Module& module);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_MERGE_EQUAL_H_
