// A learning rate for each part of a network. ELECTRA's fine-tuning uses it to train layers near
// the input more slowly.
//
//   train::AdamWeightDecay(train::RateByName({{"/embeddings/", 2e-5},
//                                             {"encoder/layer_0/", 2.5e-5},
//                                             {"task_specific/", WarmUpScaled(100, decay)}}))
#ifndef ESTIMATOR_NN_TRAIN_RATE_BY_NAME_H_
#define ESTIMATOR_NN_TRAIN_RATE_BY_NAME_H_

#include <map>
#include <string>
#include <vector>

#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/train/schedule.h"

namespace estimator::train {

struct NamedRate {
  std::string fragment;  // part of the name of the variables that `rate` applies to
  Schedule rate;
};

// Returns a learning rate for any optimizer. A variable has the rate of the fragment that its name
// contains. Schedule::Build of the result is an error, because there is no single rate.
// Errors (kept by the graph, when an optimizer applies it): INVALID_ARGUMENT naming all variables
// whose name contains no fragment, or more than one.
// Source: google-research/electra optimization. There, a second fragment makes a second update.
Schedule RateByName(std::vector<NamedRate> rates);

// For Optimizer: the learning rates of one step. Each schedule is built once for all its variables.
class StepRates {
 public:
  StepRates() = default;
  StepRates(const Schedule& schedule, const std::vector<Variable>& variables);
  // Returns the rate of a variable, f32 []. It is invalid if the constructor was not given the
  // variable.
  Tensor Of(const Variable& variable) const;

 private:
  // Exactly one of these is set.
  Tensor shared_;                          // the rate of all variables
  std::map<std::string, Tensor> by_name_;  // the rate of each variable
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_RATE_BY_NAME_H_
