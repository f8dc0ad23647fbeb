// EvalResult: the result of an evaluation.
#ifndef ESTIMATOR_TRAINING_LOOP_EVAL_RESULT_H_
#define ESTIMATOR_TRAINING_LOOP_EVAL_RESULT_H_

#include <cstdint>
#include <map>
#include <string>

#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"

namespace estimator {

struct EvalResult {
  // Every metric, and `loss` (the mean over examples) and `global_step`, in name order.
  std::map<std::string, Array> values;
  int64_t num_examples = 0;
  int64_t num_steps = 0;
  double seconds = 0;
  std::string checkpoint_path;  // empty: the variables had their first values, or were in memory

  // A scalar metric. NaN if there is none of that name, or if it is a string.
  double operator[](StringArg name) const;
  int64_t global_step() const;
  // "accuracy = 0.979, global_step = 1000, loss = 0.063". Strings are left out: they are summaries.
  std::string ToString() const;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_EVAL_RESULT_H_
