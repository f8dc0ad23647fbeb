// Merge equal: replaces nodes that have the same op, attributes and inputs by one node.
#ifndef ESTIMATOR_RUNTIME_PASSES_MERGE_EQUAL_H_
#define ESTIMATOR_RUNTIME_PASSES_MERGE_EQUAL_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// Keeps the first of equal nodes. Stateful nodes (random ops) are not merged,
// except for sums over replicas.
void MergeEqual(Module& module);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_MERGE_EQUAL_H_
