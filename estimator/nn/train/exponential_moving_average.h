// Exponential moving averages of variables. Evaluation often uses the averages instead of the
// variables.
//
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
  // A step count n: i64 or floating, []. If given, the decay is min(decay, (1 + n) / (10 + n)), so
  // that averages follow faster at first. If it is a variable, such as global_step, its value after
  // the step counts: 1 in the first step.
  Tensor num_updates = Tensor();
  std::string name = "ExponentialMovingAverage";
};

// average <- average - (average - value) * (1 - decay)
// The average is the variable `<variable>/ExponentialMovingAverage`. It starts at the variable's
// initial value.
// Source: TF 2.15 tf.compat.v1.train.ExponentialMovingAverage.
class ExponentialMovingAverage {
 public:
  explicit ExponentialMovingAverage(double decay, ExponentialMovingAverageOptions options = {});

  // Creates the averages, and returns the operation that updates them. The update uses the values
  // after `after` and graph.update_ops() (batch normalization) have run. Group the result with
  // `after`.
  //   variables: none given: all trainable ones.
  // Errors (kept by the graph): INVALID_ARGUMENT if a variable is not floating.
  Operation Apply(const std::vector<Variable>& variables = {},
                  const Operation& after = Operation());

  // Returns the average of a variable. It is invalid unless Apply was called for the variable.
  Variable Average(const Variable& variable) const;
  // Returns the name of a variable's average: "w/ExponentialMovingAverage" for "w".
  std::string AverageName(const Variable& variable) const;
  // For evaluation: maps names in the checkpoint to variables of this graph. A variable in
  // `averaged` gets its average's name, any other variable its own name.
  //   averaged: none given: all trainable variables, and those for which Apply was called, in this
  //     graph or in the graph of another mode.
  // Source: TF 2.15 ExponentialMovingAverage.variables_to_restore.
  std::map<std::string, Variable> VariablesToRestore(
      const std::vector<Variable>& averaged = {}) const;

 private:
  double decay_;
  ExponentialMovingAverageOptions options_;
  std::map<std::string, std::string> averages_;  // variable's name -> average's name
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_EXPONENTIAL_MOVING_AVERAGE_H_
