// Chooses by the first of several conditions that is true.
#ifndef ESTIMATOR_OPS_CASE_H_
#define ESTIMATOR_OPS_CASE_H_

#include <functional>
#include <utility>
#include <vector>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// The result of the function of the first true predicate, or of `default_fn` if none is true.
// As in Cond, all functions are built and computed and one result is selected, so each must be
// harmless when it is not chosen. They are called in order, the default last, so that variables get
// TensorFlow's names.
//   predicates: bool []. All functions must return the same type.
// Source: TF 2.15 tf.case.
Tensor Case(const std::vector<std::pair<Tensor, std::function<Tensor()>>>& predicates,
            const std::function<Tensor()>& default_fn, StringArg name = "case");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_CASE_H_
