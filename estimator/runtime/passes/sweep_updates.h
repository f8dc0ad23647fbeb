// Sweep updates: replaces the optimizers' ops (ApplyMomentum, ApplyAdam, ...) of all variables by
// one instruction, _UpdateSweep, which updates all their memory in one pass with all threads.
//   inputs and outputs: those of the ops, one op after the other
// It takes ops whose kernel can run on a range of elements and whose results only update variables,
// so that no op depends on another. The results have the same bits as those of the separate ops.
#ifndef ESTIMATOR_RUNTIME_PASSES_SWEEP_UPDATES_H_
#define ESTIMATOR_RUNTIME_PASSES_SWEEP_UPDATES_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// REQUIRES: kernels are selected. Runs before MakeSchedule.
void SweepUpdates(Module& module);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_SWEEP_UPDATES_H_
