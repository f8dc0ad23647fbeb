// FTRL-Proximal, slots `<variable>/Ftrl` (accum) and `<variable>/Ftrl_1` (linear):
//   linear <- linear + gradient - ((accum + gradient^2)^-p - accum^-p) / rate * variable
//   accum <- accum + gradient^2
//   variable <- (l1 * sign(linear) - linear) / (accum^-p / rate + 2 * l2) if |linear| > l1, else 0
// with p = learning_rate_power.
// Source: TF 2.15 tf.compat.v1.train.FtrlOptimizer.
#ifndef ESTIMATOR_NN_TRAIN_FTRL_H_
#define ESTIMATOR_NN_TRAIN_FTRL_H_

#include <utility>
#include <vector>

#include "estimator/nn/train/optimizer.h"

namespace estimator::train {

struct FtrlOptions {
  double learning_rate_power = -0.5;
  double initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0;
  double l2_regularization_strength = 0;
};

class Ftrl : public Optimizer {
 public:
  explicit Ftrl(Schedule learning_rate, FtrlOptions options = {})
      : Optimizer("Ftrl", std::move(learning_rate)), options_(options) {}

 protected:
  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override;

 private:
  FtrlOptions options_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_FTRL_H_
