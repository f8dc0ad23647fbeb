// Sorts along an axis.
#ifndef ESTIMATOR_OPS_SORT_H_
#define ESTIMATOR_OPS_SORT_H_

#include <string>

#include "estimator/graph/tensor.h"

namespace estimator {

enum class SortDirection { kAscending, kDescending };

struct SortOptions {
  SortDirection direction = SortDirection::kAscending;
  std::string name = "";  // "": argsort or sort
};

// The indices (i32) that sort x along `axis`. Equal elements keep their order. A NaN is greater
// than every number, and one with a sign bit is less.
// Source: TF 2.15 tf.argsort; built from TopKV2, as in TensorFlow.
Tensor ArgSort(const Tensor& x, int axis = -1, const SortOptions& options = {});
// x sorted along `axis`. The gradient of an element flows to its place in x.
// Source: TF 2.15 tf.sort.
Tensor Sort(const Tensor& x, int axis = -1, const SortOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_OPS_SORT_H_
