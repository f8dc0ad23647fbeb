// Choosing between two tensors.
#ifndef ESTIMATOR_OPS_SELECT_H_
#define ESTIMATOR_OPS_SELECT_H_

#include <functional>

#include "absl/strings/string_view.h"
#include "estimator/graph/tensor.h"
#include "estimator/ops/operand.h"

namespace estimator {

// x where `condition` holds, y elsewhere; the three are broadcast together (SelectV2).
//   condition: bool.  x, y: one dtype; either may be a number.
// As in TensorFlow, an infinite or NaN derivative of the side not chosen still spoils the gradient.
// Source: TF 2.15 tf.where (v2).
Tensor Where(const Tensor& condition, const Operand& x, const Operand& y,
             absl::string_view name = "SelectV2");

// tf.cond as a device without control flow runs it: both branches are built and computed, and the
// result is selected. So a branch must be harmless where it is not chosen.
//   predicate: bool []. The branches return the same type.
Tensor Cond(const Tensor& predicate, const std::function<Tensor()>& true_fn,
            const std::function<Tensor()>& false_fn, absl::string_view name = "cond");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_SELECT_H_
