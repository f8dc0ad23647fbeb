// Adagrad with L1 and L2 penalties.
//   slot: `<variable>/ProximalAdagrad` (accum), which starts at initial_accumulator_value
//
//   accum <- accum + gradient^2
//   rate' = rate / sqrt(accum)
//   p = variable - rate' * gradient
//   variable <- sign(p) * max(|p| - rate' * l1, 0) / (1 + rate' * l2)
// Source: TF 2.15 tf.compat.v1.train.ProximalAdagradOptimizer; Duchi et al. 2011 and 2009 (FOBOS).
#ifndef ESTIMATOR_NN_TRAIN_PROXIMAL_ADAGRAD_H_
#define ESTIMATOR_NN_TRAIN_PROXIMAL_ADAGRAD_H_

#include <string>
#include <utility>
#include <vector>

#include "estimator/nn/train/optimizer.h"

namespace estimator::train {

struct ProximalAdagradOptions {
  double initial_accumulator_value = 0.1;  // > 0
  double l1_regularization_strength = 0;   // >= 0
  double l2_regularization_strength = 0;   // >= 0
  std::string name = "ProximalAdagrad";    // name of the ops and slots
};

class ProximalAdagrad : public Optimizer {
 public:
  explicit ProximalAdagrad(Schedule learning_rate, ProximalAdagradOptions options = {})
      : Optimizer(options.name, std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  absl::Status Validate() const override;
  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override;
  std::vector<Operation> ApplySparse(const RowGradient& gradient,
                                     const Variable& variable) override;

 private:
  Variable Accumulator(const Variable& variable);

  ProximalAdagradOptions options_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_PROXIMAL_ADAGRAD_H_
