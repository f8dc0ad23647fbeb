#include "estimator/nn/train/gradient_descent.h"

#include "estimator/ops/optimizer_ops.h"

namespace estimator::train {

std::vector<Operation> GradientDescent::ApplyDense(const Tensor& gradient,
                                                   const Variable& variable) {
  return {Assign(variable, ApplyGradientDescent(variable, Rate(variable), gradient))};
}

}  // namespace estimator::train
