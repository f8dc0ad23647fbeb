// Shadow copies of variables that follow them slowly; evaluation often uses these instead.
//   const Operation step = optimizer.Minimize(loss);
//   train::ExponentialMovingAverage ema(0.999);
//   const Operation train_op = Group({step, ema.Apply({}, step)});
#ifndef ESTIMATOR_NN_TRAIN_EXPONENTIAL_MOVING_AVERAGE_H_
#define ESTIMATOR_NN_TRAIN_EXPONENTIAL_MOVING_AVERAGE_H_

#include <map>
#include <string>
#include <vector>

#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"

namespace estimator::train {

struct ExponentialMovingAverageOptions {
  // A step count (i64 or floating, []), if given: the decay is min(decay, (1 + n) / (10 + n)).
  // A variable, such as global_step, has the value that it has after the step: 1 in the first.
  Tensor num_updates = Tensor();
  std::string name = "ExponentialMovingAverage";
};

// average <- average - (average - value) * (1 - decay); `<variable>/ExponentialMovingAverage`
// begins at the variable's initial value. Source: TF 2.15
// tf.compat.v1.train.ExponentialMovingAverage.
class ExponentialMovingAverage {
 public:
  explicit ExponentialMovingAverage(double decay, ExponentialMovingAverageOptions options = {});

  // Updates the averages (creating them) with the values that the variables have after `after` and
  // the graph's own update_ops (batch norm) have run. variables: none: all trainable ones. The
  // caller groups the result with `after`. Errors: INVALID_ARGUMENT if a variable is not floating.
  Operation Apply(const std::vector<Variable>& variables = {},
                  const Operation& after = Operation());

  // The average of a variable; invalid before Apply has seen it.
  Variable Average(const Variable& variable) const;
  // "w/ExponentialMovingAverage"
  std::string AverageName(const Variable& variable) const;
  // For evaluation: what to read from a checkpoint, by name there: averages for the variables given
  // (none: all trainable ones, and those of this graph that Apply has seen, there or in another
  // mode's), the plain name for all others.
  // Source: variables_to_restore.
  std::map<std::string, Variable> VariablesToRestore(
      const std::vector<Variable>& averaged = {}) const;

 private:
  double decay_;
  ExponentialMovingAverageOptions options_;
  std::map<std::string, std::string> averages_;  // variable's name -> average's
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_EXPONENTIAL_MOVING_AVERAGE_H_
