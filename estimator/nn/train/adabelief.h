// AdaBelief: Adam that divides by the deviation of the gradient from its moving mean.
//   slots: `<variable>/AdaBeliefOptimizer` (m), `<variable>/AdaBeliefOptimizer_1` (s)
//   other variables: beta1_power, beta2_power, step
//
//   m <- beta_1 * m + (1 - beta_1) * gradient
//   s <- beta_2 * s + (1 - beta_2) * (gradient - m)^2 + epsilon
//   update = (m / (1 - beta_1^t)) / (sqrt(s / (1 - beta_2^t)) + epsilon)
//   variable <- variable - rate * (update + weight_decay * variable)
// t counts from 1. This is the paper's algorithm with decoupled weight decay, without rectification
// and AMSGrad. A program that uses the TensorFlow package adabelief_tf needs rectify=False there.
// Source: Zhuang et al. 2020, "AdaBelief Optimizer"; names of adabelief_tf 0.3 for TensorFlow 1.
#ifndef ESTIMATOR_NN_TRAIN_ADABELIEF_H_
#define ESTIMATOR_NN_TRAIN_ADABELIEF_H_

#include <string>
#include <utility>
#include <vector>

#include "estimator/nn/train/optimizer.h"

namespace estimator::train {

struct AdaBeliefOptions {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-14;
  double weight_decay = 0;
  std::string name = "AdaBeliefOptimizer";  // name of the ops and slots
};

class AdaBelief : public Optimizer {
 public:
  explicit AdaBelief(Schedule learning_rate = 0.001, AdaBeliefOptions options = {})
      : Optimizer(options.name, std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  absl::Status Validate() const override;
  void Prepare(const std::vector<Variable>& variables) override;
  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override;
  std::vector<Operation> Finish() override;

 private:
  AdaBeliefOptions options_;
  Variable beta1_power_;
  Variable beta2_power_;
  Variable step_;  // i32; not read here, but checkpoints of adabelief_tf contain it
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_ADABELIEF_H_
