// A variable that follows a value with exponential decay.
#ifndef ESTIMATOR_NN_MOVING_AVERAGE_H_
#define ESTIMATOR_NN_MOVING_AVERAGE_H_

#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"
#include "estimator/ops/operand.h"

namespace estimator {

// variable <- variable - (variable - value) * (1 - decay), at the end of the step.
//   value: of the variable's type.  decay: a number or a scalar.
// An update of the same variable that already is in graph.update_ops() comes first: the new one
// starts from its result and takes its place there, so that a layer applied twice counts twice.
// Source: TF 2.15 moving_averages.assign_moving_average, zero_debias = False.
Operation AssignMovingAverage(const Variable& variable, const Tensor& value, const Operand& decay);

// The value of `variable` after `operation` has run; variable.read() if it does not change it.
Tensor UpdatedValue(const Operation& operation, const Variable& variable);

}  // namespace estimator

#endif  // ESTIMATOR_NN_MOVING_AVERAGE_H_
