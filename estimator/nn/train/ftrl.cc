#include "estimator/nn/train/ftrl.h"

#include "estimator/nn/initializers.h"
#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/optimizer_ops.h"

namespace estimator::train {

absl::Status Ftrl::Validate() const {
  return OptionChecks(name())
      .NotPositive("learning_rate_power", options_.learning_rate_power)
      .NotNegative("initial_accumulator_value", options_.initial_accumulator_value)
      .NotNegative("l1_regularization_strength", options_.l1_regularization_strength)
      .NotNegative("l2_regularization_strength", options_.l2_regularization_strength)
      .NotNegative("l2_shrinkage_regularization_strength",
                   options_.l2_shrinkage_regularization_strength)
      .NotNegative("beta", options_.beta)
      .status();
}

std::vector<Operation> Ftrl::ApplyDense(const Tensor& gradient, const Variable& variable) {
  const Variable accum =
      GetSlot(variable, "accum",
              {.initializer = initializers::Constant(options_.initial_accumulator_value),
               .name = options_.accum_name.empty() ? name() : options_.accum_name});
  const Variable linear = GetSlot(
      variable, "linear", {.name = options_.linear_name.empty() ? name() : options_.linear_name});
  FtrlRates rates = {
      .lr = Rate(variable),
      .l1 = Number(variable, options_.l1_regularization_strength, "l1"),
      .l2 = Number(variable, options_.l2_regularization_strength, "l2"),
      .lr_power = Number(variable, options_.learning_rate_power, "learning_rate_power")};
  // The op has no beta: beta / rate enters through 2 * l2.
  if (options_.beta != 0) rates.l2 += options_.beta / (2.0 * Maximum(rates.lr, 1e-36));
  const FtrlState state = {variable, accum, linear};
  const double shrinkage = options_.l2_shrinkage_regularization_strength;
  const FtrlState next = shrinkage > 0 ? ApplyFtrlV2(state, gradient, rates,
                                                     Number(variable, shrinkage, "l2_shrinkage"))
                                       : ApplyFtrl(state, gradient, rates);
  return {Assign(variable, next.var), Assign(accum, next.accum), Assign(linear, next.linear)};
}

}  // namespace estimator::train
