// Prune: drops what neither a fetch nor an update needs, and variables that the step no longer
// touches.
#ifndef ESTIMATOR_RUNTIME_PASSES_PRUNE_H_
#define ESTIMATOR_RUNTIME_PASSES_PRUNE_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// Keeps the topological order and the order of feeds (a feed that nothing reads stays a feed).
// An update that gives a variable its own value is dropped.
void Prune(Module& module);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_PRUNE_H_
