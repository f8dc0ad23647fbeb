// CheckRange: fails a step if a value is outside a range. For metrics; models do not need it.
#ifndef ESTIMATOR_OPS_CHECK_RANGE_H_
#define ESTIMATOR_OPS_CHECK_RANGE_H_

#include <string>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

struct CheckRangeOptions {
  float low = 0, high = 1;  // both bounds are allowed values
  std::string what = "";    // the name in the message: "auc: predictions"
  std::string cure = "";    // what the user should do: "pass Sigmoid(logits)"
};

// Returns x, which is numeric and has any shape. If an element is outside the range or NaN, the
// step that computes x fails with INVALID_ARGUMENT:
//   auc: predictions must be in [0, 1], but element 3 of f32 [8] is 2.5: CURE
// TensorFlow's graph has separate assert ops for this. In a GraphDef it is written as an Identity.
Tensor CheckRange(const Tensor& x, const CheckRangeOptions& options, StringArg name = "CheckRange");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_CHECK_RANGE_H_
