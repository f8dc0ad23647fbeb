#include "estimator/nn/train/proximal_adagrad.h"

#include "estimator/nn/initializers.h"
#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/optimizer_ops.h"

namespace estimator::train {

absl::Status ProximalAdagrad::Validate() const {
  return OptionChecks(name())
      .Positive("initial_accumulator_value", options_.initial_accumulator_value)
      .NotNegative("l1_regularization_strength", options_.l1_regularization_strength)
      .NotNegative("l2_regularization_strength", options_.l2_regularization_strength)
      .status();
}

Variable ProximalAdagrad::Accumulator(const Variable& variable) {
  return GetSlot(
      variable, "accumulator",
      {.initializer = initializers::Constant(options_.initial_accumulator_value), .name = name()});
}

std::vector<Operation> ProximalAdagrad::ApplyDense(const Tensor& gradient,
                                                   const Variable& variable) {
  const Variable accum = Accumulator(variable);
  const VarAccum next = ApplyProximalAdagrad(
      variable, accum, Rate(variable), Number(variable, options_.l1_regularization_strength, "l1"),
      Number(variable, options_.l2_regularization_strength, "l2"), gradient);
  return {Assign(variable, next.var), Assign(accum, next.accum)};
}

std::vector<Operation> ProximalAdagrad::ApplySparse(const RowGradient& gradient,
                                                    const Variable& variable) {
  const Variable accum = Accumulator(variable);
  const Tensor l1 = Number(variable, options_.l1_regularization_strength, "l1"),
               l2 = Number(variable, options_.l2_regularization_strength, "l2");
  const Tensor next = gradient.Of(accum) + Square(gradient.rows());
  const Tensor rate = Rate(variable) * Rsqrt(next);
  const Tensor p = gradient.Of(variable) - gradient.rows() * rate;
  const Tensor shrunk = Sign(p) * Maximum(Abs(p) - rate * l1, 0);
  return {gradient.Assign(variable, shrunk / (1 + rate * l2)), gradient.Assign(accum, next)};
}

}  // namespace estimator::train
