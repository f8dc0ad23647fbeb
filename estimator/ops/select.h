// Selects between two tensors.
#ifndef ESTIMATOR_OPS_SELECT_H_
#define ESTIMATOR_OPS_SELECT_H_

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"
#include "estimator/ops/operand.h"

namespace estimator {

// x where `condition` is true, y elsewhere (SelectV2). The three are broadcast together.
//   condition: bool.  x, y: one dtype; one of them may be a number.
// As in TensorFlow, an infinite or NaN derivative of the side that is not selected makes the
// gradient NaN.
// Source: TF 2.15 tf.where (v2).
Tensor Where(const Tensor& condition, const Operand& x, const Operand& y,
             StringArg name = "SelectV2");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_SELECT_H_
