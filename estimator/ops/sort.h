// Sorting along an axis.
#ifndef ESTIMATOR_OPS_SORT_H_
#define ESTIMATOR_OPS_SORT_H_

#include <string>

#include "estimator/graph/tensor.h"

namespace estimator {

enum class SortDirection { kAscending, kDescending };

struct SortOptions {
  SortDirection direction = SortDirection::kAscending;
  std::string name = "";
};

// The indices (i32) that put x in order along `axis`; of equals the lower index comes first.
// Source: TF 2.15 tf.argsort, made of TopKV2 as there.
Tensor ArgSort(const Tensor& x, int axis = -1, const SortOptions& options = {});
// x in order along `axis`. The gradient goes back to where the elements came from.
// Source: TF 2.15 tf.sort.
Tensor Sort(const Tensor& x, int axis = -1, const SortOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_OPS_SORT_H_
