// Finds the tensor that a NaN or an Inf comes from.
#ifndef ESTIMATOR_TRAINING_MODEL_FIRST_NON_FINITE_H_
#define ESTIMATOR_TRAINING_MODEL_FIRST_NON_FINITE_H_

#include <map>
#include <string>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/runtime/backend.h"
#include "estimator/training/model/built_model.h"

namespace estimator {

// Runs the step of `feeds` again, without updates, and fetches every floating tensor of the graph.
// Names the first one in forward order that is not finite:
//   "dense/MatMul:0 (f32 [8,10]) is NaN at [3,2]"
// Of a loop or a branch, also the op inside: "while:1 (f32 [8]) is NaN at [3] because while/Log
// (f32 [8]) is NaN at trip 12".
// Some variables and constants are infinite on purpose, as the best loss before the first step or
// the logits of masked positions. They, and tensors that are infinite because of them, are named
// only if every other tensor is finite.
// REQUIRES: the variables are those from before the step.
std::string FirstNonFiniteTensor(const BuiltModel& model, Backend& backend, const StepFeeds& feeds);

// The names of the variables that have a NaN, sorted.
std::vector<std::string> NamesWithNaN(const std::map<std::string, Array>& variables);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_FIRST_NON_FINITE_H_
