// CheckNumerics: fails a step if a value is not finite.
#ifndef ESTIMATOR_OPS_CHECK_NUMERICS_H_
#define ESTIMATOR_OPS_CHECK_NUMERICS_H_

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// Returns x, which is floating and has any shape. If an element is NaN or infinite, the step that
// computes x fails with INVALID_ARGUMENT: "NAME: MESSAGE : Tensor had NaN values". The gradient of
// x is checked in the same way.
// Source: TF 2.15 tf.debugging.check_numerics.
Tensor CheckNumerics(const Tensor& x, StringArg message, StringArg name = "CheckNumerics");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_CHECK_NUMERICS_H_
