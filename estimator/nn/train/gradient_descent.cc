#include "estimator/nn/train/gradient_descent.h"

#include "estimator/ops/optimizer_ops.h"

namespace estimator::train {

std::vector<Operation> GradientDescent::ApplyDense(const Tensor& gradient,
                                                   const Variable& variable) {
  return {Assign(variable, ApplyGradientDescent(variable, Rate(variable), gradient))};
}

// A row without a gradient does not change in ApplyDense either, so the choice is only one of cost.
// If the table is looked up in one place, even the bits are the same.
std::vector<Operation> GradientDescent::ApplySparse(const RowGradient& gradient,
                                                    const Variable& variable) {
  if (!gradient.FewerThanAll()) return ApplyDense(gradient.dense(), variable);
  return {gradient.Assign(
      variable, ApplyGradientDescent(gradient.Of(variable), Rate(variable), gradient.rows()))};
}

}  // namespace estimator::train
