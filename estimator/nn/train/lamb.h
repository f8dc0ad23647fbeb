// LAMB: Adam with weight decay whose step is scaled for each variable.
//   slots: `<variable>/adam_m` (m), `<variable>/adam_v` (v)
//
//   m <- beta_1 * m + (1 - beta_1) * gradient
//   v <- beta_2 * v + (1 - beta_2) * gradient^2
//   update = m / (sqrt(v) + epsilon) + weight_decay_rate * variable
//   variable <- variable - rate * |variable| / |update| * update
// |x| is the Euclidean norm. The quotient of norms is 1 if one of them is 0. There is no bias
// correction; later versions of the paper have one.
// Source: google-research/albert lamb_optimizer.LAMBOptimizer; You et al. 2019, "Large Batch
// Optimization for Deep Learning: Training BERT in 76 minutes".
#ifndef ESTIMATOR_NN_TRAIN_LAMB_H_
#define ESTIMATOR_NN_TRAIN_LAMB_H_

#include <string>
#include <vector>

#include "estimator/nn/train/adam_weight_decay.h"

namespace estimator::train {

struct LAMBOptions {
  double weight_decay_rate = 0;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-6;
  // Regular expressions, searched in the variable's name. ALBERT:
  // {"LayerNorm", "layer_norm", "bias"}.
  std::vector<std::string> exclude_from_weight_decay = {};
  // Variables whose quotient of norms is 1. None: those of exclude_from_weight_decay.
  std::vector<std::string> exclude_from_layer_adaptation = {};
  std::string name = "LAMBOptimizer";  // name of the ops
};

class LAMB : public AdamWeightDecay {
 public:
  explicit LAMB(Schedule learning_rate, LAMBOptions options = {});

 protected:
  absl::Status Validate() const override;
  Tensor StepRate(const Variable& variable, const Tensor& update) override;

 private:
  bool Adapts(const Variable& variable) const;

  LAMBOptions options_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_LAMB_H_
