// Adam with decoupled weight decay as BERT has it, slots `<variable>/adam_m`, `<variable>/adam_v`:
//   m <- beta1 * m + (1 - beta1) * gradient
//   v <- beta2 * v + (1 - beta2) * gradient^2
//   variable <- variable - rate * (m / (sqrt(v) + epsilon) + weight_decay_rate * variable)
// No bias correction. Weight decay leaves out variables whose name a regular expression matches.
// Source: google-research/bert optimization.AdamWeightDecayOptimizer.
#ifndef ESTIMATOR_NN_TRAIN_ADAM_WEIGHT_DECAY_H_
#define ESTIMATOR_NN_TRAIN_ADAM_WEIGHT_DECAY_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/nn/train/optimizer.h"

namespace estimator::train {

struct AdamWeightDecayOptions {
  double weight_decay_rate = 0;  // BERT: 0.01
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  // Searched in the variable's name; BERT: {"LayerNorm", "layer_norm", "bias"}.
  std::vector<std::string> exclude_from_weight_decay = {};
};

class AdamWeightDecay : public Optimizer {
 public:
  explicit AdamWeightDecay(Schedule learning_rate, AdamWeightDecayOptions options = {})
      : Optimizer("AdamWeightDecayOptimizer", std::move(learning_rate)),
        options_(std::move(options)) {}

 protected:
  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override;

 private:
  AdamWeightDecayOptions options_;
};

// Whether a pattern (ECMAScript) is found in `name`.
// Errors (kept by the current graph): INVALID_ARGUMENT naming a pattern that is no regular
// expression.
bool MatchesAny(absl::string_view name, const std::vector<std::string>& patterns);

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_ADAM_WEIGHT_DECAY_H_
