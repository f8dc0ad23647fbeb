// Prune: removes nodes that neither a fetch nor an update needs, and variables that the step does
// not use.
#ifndef ESTIMATOR_RUNTIME_PASSES_PRUNE_H_
#define ESTIMATOR_RUNTIME_PASSES_PRUNE_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// Keeps the topological order and the feeds; a feed that no node reads remains a feed. Removes an
// update that assigns a variable its own value.
void Prune(Module& module);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_PRUNE_H_
