// Sweep updates: the optimizers' ops (ApplyMomentum, ApplyAdam, ...) of all variables become one
// instruction, _UpdateSweep, which walks over their memory once with all threads.
//   inputs and outputs: those of the ops, one op after the other.
// Taken are ops with a kernel that can run a range of elements, whose results go to variables and
// nowhere else, so that none depends on another. The bits are those of the separate ops.
#ifndef ESTIMATOR_RUNTIME_PASSES_SWEEP_UPDATES_H_
#define ESTIMATOR_RUNTIME_PASSES_SWEEP_UPDATES_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// REQUIRES: kernels are selected. Before MakeSchedule.
void SweepUpdates(Module& module);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_SWEEP_UPDATES_H_
