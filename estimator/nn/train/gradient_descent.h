// Gradient descent: variable <- variable - rate * gradient.
// Source: TF 2.15 tf.compat.v1.train.GradientDescentOptimizer.
#ifndef ESTIMATOR_NN_TRAIN_GRADIENT_DESCENT_H_
#define ESTIMATOR_NN_TRAIN_GRADIENT_DESCENT_H_

#include <string>
#include <utility>
#include <vector>

#include "estimator/nn/train/optimizer.h"

namespace estimator::train {

struct GradientDescentOptions {
  std::string name = "GradientDescent";  // name of the ops
};

class GradientDescent : public Optimizer {
 public:
  explicit GradientDescent(Schedule learning_rate, const GradientDescentOptions& options = {})
      : Optimizer(options.name, std::move(learning_rate)) {}

 protected:
  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override;
  std::vector<Operation> ApplySparse(const RowGradient& gradient,
                                     const Variable& variable) override;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_GRADIENT_DESCENT_H_
