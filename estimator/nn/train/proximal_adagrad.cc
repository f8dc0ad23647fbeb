#include "estimator/nn/train/proximal_adagrad.h"

#include "estimator/nn/initializers.h"
#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/optimizer_ops.h"

namespace estimator::train {

absl::Status ProximalAdagrad::Validate() const {
  return OptionChecks(name())
      .Positive("initial_accumulator_value", options_.initial_accumulator_value)
      .NotNegative("l1_regularization_strength", options_.l1_regularization_strength)
      .NotNegative("l2_regularization_strength", options_.l2_regularization_strength)
      .status();
}

std::vector<Operation> ProximalAdagrad::ApplyDense(const Tensor& gradient,
                                                   const Variable& variable) {
  const Variable accum = GetSlot(
      variable, "accumulator",
      {.initializer = initializers::Constant(options_.initial_accumulator_value), .name = name()});
  const VarAccum next = ApplyProximalAdagrad(
      variable, accum, Rate(variable), Number(variable, options_.l1_regularization_strength, "l1"),
      Number(variable, options_.l2_regularization_strength, "l2"), gradient);
  return {Assign(variable, next.var), Assign(accum, next.accum)};
}

}  // namespace estimator::train
