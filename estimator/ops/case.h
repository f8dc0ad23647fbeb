// The first of several conditions that holds.
#ifndef ESTIMATOR_OPS_CASE_H_
#define ESTIMATOR_OPS_CASE_H_

#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// The function of the first predicate that holds, `default_fn` where none does. As Cond: all are
// computed, one is selected, so each must be harmless where it is not chosen. They are called in
// order, the default last: variables get TensorFlow's names.
//   predicates: bool []. All functions return the same type.
// Source: TF 2.15 tf.case.
Tensor Case(const std::vector<std::pair<Tensor, std::function<Tensor()>>>& predicates,
            const std::function<Tensor()>& default_fn, absl::string_view name = "case");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_CASE_H_
