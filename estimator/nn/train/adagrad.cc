#include "estimator/nn/train/adagrad.h"

#include "estimator/nn/initializers.h"
#include "estimator/ops/optimizer_ops.h"

namespace estimator::train {

std::vector<Operation> Adagrad::ApplyDense(const Tensor& gradient, const Variable& variable) {
  const Variable accum = GetSlot(
      variable, "accumulator", initializers::Constant(options_.initial_accumulator_value), name());
  const VarAccum next = ApplyAdagrad(variable, accum, Rate(variable), gradient);
  return {Assign(variable, next.var), Assign(accum, next.accum)};
}

}  // namespace estimator::train
