// CheckNumerics: a value that must be finite.
#ifndef ESTIMATOR_OPS_CHECK_NUMERICS_H_
#define ESTIMATOR_OPS_CHECK_NUMERICS_H_

#include "absl/strings/string_view.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// x, floating, of any shape. The step that computes it fails with INVALID_ARGUMENT if an element is
// NaN or infinite: "NAME: MESSAGE : Tensor had NaN values". Its gradient is checked as well.
// Source: TF 2.15 tf.debugging.check_numerics.
Tensor CheckNumerics(const Tensor& x, absl::string_view message,
                     absl::string_view name = "CheckNumerics");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_CHECK_NUMERICS_H_
