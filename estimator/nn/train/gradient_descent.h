// Gradient descent: variable <- variable - rate * gradient.
// Source: TF 2.15 tf.compat.v1.train.GradientDescentOptimizer.
#ifndef ESTIMATOR_NN_TRAIN_GRADIENT_DESCENT_H_
#define ESTIMATOR_NN_TRAIN_GRADIENT_DESCENT_H_

#include <string>
#include <utility>

#include "estimator/nn/train/formula_optimizer.h"

namespace estimator::train {

struct GradientDescentOptions {
  std::string name = "GradientDescent";  // name of the ops
};

class GradientDescent : public FormulaOptimizer {
 public:
  explicit GradientDescent(Schedule learning_rate, const GradientDescentOptions& options = {})
      : FormulaOptimizer(options.name, std::move(learning_rate)) {}

 protected:
  Update UpdateOf(const Variable& variable) override {
    return {.op = "ApplyGradientDescent", .numbers = {{"alpha", Rate(variable)}}};
  }
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_GRADIENT_DESCENT_H_
