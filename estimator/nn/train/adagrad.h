// Adagrad.
//   slot: `<variable>/Adagrad` (accum), which starts at initial_accumulator_value
//
//   accum <- accum + gradient^2
//   variable <- variable - rate * gradient / sqrt(accum)
// Source: TF 2.15 tf.compat.v1.train.AdagradOptimizer.
#ifndef ESTIMATOR_NN_TRAIN_ADAGRAD_H_
#define ESTIMATOR_NN_TRAIN_ADAGRAD_H_

#include <string>
#include <utility>
#include <vector>

#include "estimator/nn/train/optimizer.h"

namespace estimator::train {

struct AdagradOptions {
  double initial_accumulator_value = 0.1;  // > 0
  std::string name = "Adagrad";            // name of the ops and slots
};

class Adagrad : public Optimizer {
 public:
  explicit Adagrad(Schedule learning_rate, AdagradOptions options = {})
      : Optimizer(options.name, std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  absl::Status Validate() const override;
  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override;
  std::vector<Operation> ApplySparse(const RowGradient& gradient,
                                     const Variable& variable) override;

 private:
  Variable Accumulator(const Variable& variable);

  AdagradOptions options_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_ADAGRAD_H_
