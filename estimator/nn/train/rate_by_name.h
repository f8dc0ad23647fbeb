// A learning rate for each part of a network, as ELECTRA fine-tunes: slower towards the input.
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
  std::string fragment;  // of the name of each variable that `rate` is for
  Schedule rate;
};

// For any optimizer's learning rate. A variable takes the rate of the fragment that its name
// contains. Errors (kept by the graph, when an optimizer applies it): INVALID_ARGUMENT naming all
// variables that contain no fragment, or more than one. It has no value of its own: Build is an
// error.
// Source: google-research/electra optimization (where a second fragment makes a second update).
Schedule RateByName(std::vector<NamedRate> rates);

// The rates of one step: each schedule is built once, for all of its variables. For Optimizer.
class StepRates {
 public:
  StepRates() = default;
  StepRates(const Schedule& schedule, const std::vector<Variable>& variables);
  // f32 []; invalid for a variable that was not among those given.
  Tensor Of(const Variable& variable) const;

 private:
  Tensor shared_;                          // of all variables, or
  std::map<std::string, Tensor> by_name_;  // of each
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_RATE_BY_NAME_H_
