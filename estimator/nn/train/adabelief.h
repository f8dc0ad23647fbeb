// AdaBelief: Adam that divides by the deviation of the gradient from its moving mean.
//   slots: `<variable>/AdaBeliefOptimizer` (m), `<variable>/AdaBeliefOptimizer_1` (v), and with
//          amsgrad `<variable>/AdaBeliefOptimizer_2` (vhat)
//   other variables: beta1_power, beta2_power, step
//
//   m <- beta_1 * m + (1 - beta_1) * gradient
//   v <- beta_2 * v + (1 - beta_2) * (gradient - m)^2 + epsilon
//   mean = m / (1 - beta_1^t)
//   deviation = sqrt(v / (1 - beta_2^t)) + epsilon, with amsgrad of the largest v so far
//   update = mean / deviation
//   variable <- variable - rate * (update + weight_decay * variable)
// t counts from 1. With `rectify`, as in RectifiedAdam:
//   sma_inf = 2 / (1 - beta_2) - 1,  sma = sma_inf - 2 t beta_2^t / (1 - beta_2^t)
//   r = sqrt((sma - 4) (sma - 2) sma_inf / ((sma_inf - 4) (sma_inf - 2) sma))
//   update = r * mean / deviation if sma >= sma_threshold, else mean
// Source: Zhuang et al. 2020, "AdaBelief Optimizer"; options and defaults of the Python package
// adabelief_tf 0.2.1; names of its version for TensorFlow 1.
#ifndef ESTIMATOR_NN_TRAIN_ADABELIEF_H_
#define ESTIMATOR_NN_TRAIN_ADABELIEF_H_

#include <cstdint>
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
  // False: weight_decay * variable is added to the gradient, as in the package adabelief_pytorch.
  bool weight_decouple = true;
  bool rectify = true;  // until `sma` reaches its threshold, does not divide by the deviation
  bool amsgrad = false;
  double sma_threshold = 5;
  // If > 0, the rate rises from 0 for total_steps * warmup_proportion steps, and then falls to
  // min_lr, both linearly.
  int64_t total_steps = 0;
  double warmup_proportion = 0.1;
  double min_lr = 0;
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
  // `mean` divided by `deviation`, rectified if the options ask for it.
  Tensor Update(const Tensor& mean, const Tensor& deviation) const;
  // This step's rate, after the options' warm-up.
  Tensor WarmRate(const Variable& variable);

  AdaBeliefOptions options_;
  Variable beta1_power_;
  Variable beta2_power_;
  Variable step_;  // i32
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_ADABELIEF_H_
