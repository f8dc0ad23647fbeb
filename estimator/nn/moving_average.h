// A variable that follows a value with exponential decay.
#ifndef ESTIMATOR_NN_MOVING_AVERAGE_H_
#define ESTIMATOR_NN_MOVING_AVERAGE_H_

#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"
#include "estimator/ops/operand.h"

namespace estimator {

// variable <- variable - (variable - value) * (1 - decay), at the end of the step.
//   value: of the variable's type.  decay: a number or a scalar.
// If graph.update_ops() already updates the variable, the new update starts from that one's result
// and replaces it there. A layer that is applied twice is therefore counted twice.
// Source: TF 2.15 moving_averages.assign_moving_average, zero_debias = False.
Operation AssignMovingAverage(const Variable& variable, const Tensor& value, const Operand& decay);

// Returns the value of `variable` after `operation` has run. That is variable.read() if `operation`
// does not change it.
Tensor UpdatedValue(const Operation& operation, const Variable& variable);

}  // namespace estimator

#endif  // ESTIMATOR_NN_MOVING_AVERAGE_H_
