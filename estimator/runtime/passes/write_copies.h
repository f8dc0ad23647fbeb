// WriteCopies: lets the update of a variable write the variable's copy in bf16 too, which a step
// with bf16 products reads. The next step then need not read the variable to compute the copy.
#ifndef ESTIMATOR_RUNTIME_PASSES_WRITE_COPIES_H_
#define ESTIMATOR_RUNTIME_PASSES_WRITE_COPIES_H_

#include "estimator/runtime/ir.h"
#include "estimator/runtime/passes/schedule.h"

namespace estimator::ir {

// Sets Node::copies of each sweep (sweep_updates.h) that writes variables in place, for the kept
// derived casts of these variables. The casts stay: they run before the first step, and after the
// variables were set from outside. Only in the update phase, because a step that fails before it
// changes neither variables nor derived values; and no copy that the update phase itself reads.
// REQUIRES: DeriveValues has run, and `schedule` is that of the module.
void WriteCopies(Module& module, const Schedule& schedule);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_WRITE_COPIES_H_
