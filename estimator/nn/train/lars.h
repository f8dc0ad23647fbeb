// LARS: layer-wise adaptive rate scaling.
//   slot: `<variable>/LARSOptimizer` (momentum)
//
//   ratio = eeta * |variable| / (|gradient| + weight_decay * |variable| + epsilon)
//   step = rate * ratio * (gradient + weight_decay * variable)
//   momentum <- momentum_rate * momentum + step
//   variable <- variable - momentum                                          (plain)
//   variable <- variable - (step + momentum_rate * momentum)                 (Nesterov)
// |x| is the Euclidean norm. ratio is 1 if one of the norms is 0. A variable of skip_list has
// step = rate * gradient, without scaling and weight decay. The rate is part of the momentum:
// accumulated steps keep their scale when the rate changes.
// Source: tensorflow/tpu models/official/efficientnet/lars_optimizer.LARSOptimizer; You et al.
// 2017, "Large Batch Training of Convolutional Networks".
#ifndef ESTIMATOR_NN_TRAIN_LARS_H_
#define ESTIMATOR_NN_TRAIN_LARS_H_

#include <string>
#include <utility>
#include <vector>

#include "estimator/nn/train/optimizer.h"

namespace estimator::train {

struct LARSOptions {
  double momentum = 0.9;
  double weight_decay = 1e-4;
  double eeta = 0.001;  // the paper's trust coefficient
  double epsilon = 0;
  // Substrings of variable names, not patterns. ResNet: {"batch_normalization", "bias"}.
  std::vector<std::string> skip_list = {};
  bool use_nesterov = false;
  std::string name = "LARSOptimizer";  // name of the ops and slots
};

class LARS : public Optimizer {
 public:
  explicit LARS(Schedule learning_rate, LARSOptions options = {})
      : Optimizer(options.name, std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  absl::Status Validate() const override;
  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override;

 private:
  // rate * ratio * (gradient + weight_decay * variable)
  Tensor Step(const Tensor& gradient, const Variable& variable) const;

  LARSOptions options_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_LARS_H_
