// Finds where a NaN or an Inf comes from.
#ifndef ESTIMATOR_TRAINING_MODEL_FIRST_NON_FINITE_H_
#define ESTIMATOR_TRAINING_MODEL_FIRST_NON_FINITE_H_

#include <map>
#include <string>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/runtime/backend.h"
#include "estimator/training/model/built_model.h"

namespace estimator {

// Runs the step that `feeds` were for once more, without updates, with every floating tensor of the
// graph fetched, and names the first in forward order that has a value which is not finite:
//   "dense/MatMul:0 (f32 [8,10]) is NaN at [3,2]"
// A variable or a constant that is infinite, as the best loss before the first step and the logits
// of masked places are on purpose, and what is infinite because of it are named only if nothing
// else is not finite.
// REQUIRES: the variables are those from before the step.
std::string FirstNonFiniteTensor(const BuiltModel& model, Backend& backend, const StepFeeds& feeds);

// The variables that hold a NaN, in the order of their names.
std::vector<std::string> NamesWithNaN(const std::map<std::string, Array>& variables);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_FIRST_NON_FINITE_H_
