// CheckRange: values that must lie between two numbers. What metrics assert; not for users.
#ifndef ESTIMATOR_OPS_CHECK_RANGE_H_
#define ESTIMATOR_OPS_CHECK_RANGE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "estimator/graph/tensor.h"

namespace estimator {

struct CheckRangeOptions {
  float low = 0, high = 1;  // both may be reached
  std::string what = "";    // "auc: predictions"
  std::string cure = "";    // "pass Sigmoid(logits)"
};

// x, of numbers, of any shape. The step that computes it fails with INVALID_ARGUMENT if an element
// is outside, or NaN: "auc: predictions must be in [0, 1], but element 3 of f32 [8] is 2.5: CURE".
// TensorFlow's graph has asserts beside the value; there it is written as an Identity.
Tensor CheckRange(const Tensor& x, const CheckRangeOptions& options,
                  absl::string_view name = "CheckRange");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_CHECK_RANGE_H_
