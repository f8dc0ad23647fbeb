// Momentum.
//   slot: `<variable>/Momentum` (accum)
//
//   accum <- momentum * accum + gradient
//   variable <- variable - rate * accum                             (plain)
//   variable <- variable - rate * (gradient + momentum * accum)     (Nesterov, with the new accum)
// Source: TF 2.15 tf.compat.v1.train.MomentumOptimizer.
#ifndef ESTIMATOR_NN_TRAIN_MOMENTUM_H_
#define ESTIMATOR_NN_TRAIN_MOMENTUM_H_

#include <string>
#include <utility>
#include <vector>

#include "estimator/nn/train/optimizer.h"

namespace estimator::train {

struct MomentumOptions {
  bool use_nesterov = false;
  std::string name = "Momentum";  // name of the ops and slots
};

class Momentum : public Optimizer {
 public:
  // momentum: a number >= 0, a tensor, or a schedule, as for a learning rate.
  Momentum(Schedule learning_rate, Schedule momentum, MomentumOptions options = {})
      : Optimizer(options.name, std::move(learning_rate)),
        momentum_(std::move(momentum)),
        options_(std::move(options)) {}

 protected:
  absl::Status Validate() const override;
  void Prepare(const std::vector<Variable>& variables) override;
  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override;
  std::vector<Operation> ApplySparse(const RowGradient& gradient,
                                     const Variable& variable) override;
  std::vector<Operation> Finish() override;

 private:
  Schedule momentum_;
  MomentumOptions options_;
  Tensor momentum_tensor_;  // momentum_ in the step being built
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_MOMENTUM_H_
