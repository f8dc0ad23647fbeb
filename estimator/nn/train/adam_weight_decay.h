// Adam with decoupled weight decay, as in BERT.
//   slots: `<variable>/adam_m` (m), `<variable>/adam_v` (v)
//
//   m <- beta_1 * m + (1 - beta_1) * gradient
//   v <- beta_2 * v + (1 - beta_2) * gradient^2
//   variable <- variable - rate * (m / (sqrt(v) + epsilon) + weight_decay_rate * variable)
// There is no bias correction. Variables whose name matches exclude_from_weight_decay do not decay.
// For a learning rate by layer, as in ELECTRA's fine-tuning, pass train::RateByName.
// Source: google-research/bert optimization.AdamWeightDecayOptimizer; Loshchilov and Hutter 2017.
#ifndef ESTIMATOR_NN_TRAIN_ADAM_WEIGHT_DECAY_H_
#define ESTIMATOR_NN_TRAIN_ADAM_WEIGHT_DECAY_H_

#include <string>
#include <utility>
#include <vector>

#include "estimator/nn/train/optimizer.h"

namespace estimator::train {

struct AdamWeightDecayOptions {
  double weight_decay_rate = 0;  // BERT: 0.01
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-6;
  // Regular expressions, searched in the variable's name. BERT: {"LayerNorm", "layer_norm",
  // "bias"}.
  std::vector<std::string> exclude_from_weight_decay = {};
  std::string name = "AdamWeightDecayOptimizer";  // name of the ops
};

class AdamWeightDecay : public Optimizer {
 public:
  explicit AdamWeightDecay(Schedule learning_rate, AdamWeightDecayOptions options = {})
      : Optimizer(options.name, std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  absl::Status Validate() const override;
  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override;

  // The rate of this step for `update` of the variable. LAMB scales it.
  virtual Tensor StepRate(const Variable& variable, const Tensor& /*update*/) {
    return Rate(variable);
  }

 private:
  AdamWeightDecayOptions options_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_ADAM_WEIGHT_DECAY_H_
