// Adam.
//   slots: `<variable>/Adam` (m), `<variable>/Adam_1` (v)
//   other variables: beta1_power, beta2_power
//
//   m <- beta1 * m + (1 - beta1) * gradient
//   v <- beta2 * v + (1 - beta2) * gradient^2
//   variable <- variable - rate * sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(v) + epsilon)
// t counts from 1. As in TensorFlow, epsilon is the paper's "epsilon hat".
// Source: TF 2.15 tf.compat.v1.train.AdamOptimizer; Kingma and Ba 2014.
#ifndef ESTIMATOR_NN_TRAIN_ADAM_H_
#define ESTIMATOR_NN_TRAIN_ADAM_H_

#include <string>
#include <utility>
#include <vector>

#include "estimator/nn/train/optimizer.h"

namespace estimator::train {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  std::string name = "Adam";  // name of the ops and slots
};

class Adam : public Optimizer {
 public:
  explicit Adam(Schedule learning_rate = 0.001, AdamOptions options = {})
      : Optimizer(options.name, std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  absl::Status Validate() const override;
  void Prepare(const std::vector<Variable>& variables) override;
  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override;
  std::vector<Operation> Finish() override;

 private:
  AdamOptions options_;
  Variable beta1_power_;
  Variable beta2_power_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_ADAM_H_
