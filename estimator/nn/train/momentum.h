// Momentum, slot `<variable>/Momentum`:
//   accum <- momentum * accum + gradient
//   variable <- variable - rate * accum                             (plain)
//   variable <- variable - rate * (gradient + momentum * accum)     (Nesterov, with the new accum)
// Source: TF 2.15 tf.compat.v1.train.MomentumOptimizer.
#ifndef ESTIMATOR_NN_TRAIN_MOMENTUM_H_
#define ESTIMATOR_NN_TRAIN_MOMENTUM_H_

#include <utility>
#include <vector>

#include "estimator/nn/train/optimizer.h"

namespace estimator::train {

struct MomentumOptions {
  bool use_nesterov = false;
};

class Momentum : public Optimizer {
 public:
  Momentum(Schedule learning_rate, double momentum, MomentumOptions options = {})
      : Optimizer("Momentum", std::move(learning_rate)), momentum_(momentum), options_(options) {}

 protected:
  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override;

 private:
  double momentum_;
  MomentumOptions options_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_MOMENTUM_H_
