// Stochastic weight averaging: the mean of the weights at several steps late in a training.
#ifndef ESTIMATOR_NN_TRAIN_STOCHASTIC_WEIGHT_AVERAGING_H_
#define ESTIMATOR_NN_TRAIN_STOCHASTIC_WEIGHT_AVERAGING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"

namespace estimator::train {

struct StochasticWeightAveragingOptions {
  int64_t start_averaging = 0;  // the global step of the first weights of the mean
  int64_t average_period = 10;  // steps from there to the next ones, and so on
};

// After step t, with n = (t - start_averaging) / average_period:
//   average <- variable                                  while t <= start_averaging
//   average <- average + (variable - average) / (n + 1)  for whole n
//   average stays                                        otherwise
// The average is the variable `<variable>/average`. RunConfig.average_weights evaluates with it.
// Source: "Averaging Weights Leads to Wider Optima and Better Generalization", and
// TensorFlow Addons 0.23 optimizers.SWA.
class StochasticWeightAveraging {
 public:
  explicit StochasticWeightAveraging(const StochasticWeightAveragingOptions& options)
      : options_(options) {}

  // Creates the averages of the trainable variables, and returns the operation that updates them
  // with the values after `after` and graph.update_ops() have run. Group it with `after`.
  // Errors (kept by the graph): INVALID_ARGUMENT if an option is out of range, or a variable is not
  // floating.
  Operation Apply(const Operation& after) const;
  static std::string AverageName(const Variable& variable) { return variable.name() + "/average"; }

 private:
  const StochasticWeightAveragingOptions options_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_STOCHASTIC_WEIGHT_AVERAGING_H_
