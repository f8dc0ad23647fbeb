#include "estimator/nn/train/ftrl.h"

#include <string>

#include "estimator/nn/initializers.h"
#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/select.h"

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

Ftrl::Slots Ftrl::SlotsOf(const Variable& variable) {
  const auto name_or = [this](const std::string& name) {
    return name.empty() ? this->name() : name;
  };
  // The order of creation matters: the second slot of one name gets the suffix _1.
  const Variable accum =
      GetSlot(variable, "accum",
              {.initializer = initializers::Constant(options_.initial_accumulator_value),
               .name = name_or(options_.accum_name)});
  return {accum, GetSlot(variable, "linear", {.name = name_or(options_.linear_name)})};
}

FtrlRates Ftrl::Rates(const Variable& variable) const {
  FtrlRates rates = {
      .lr = Rate(variable),
      .l1 = Number(variable, options_.l1_regularization_strength, "l1"),
      .l2 = Number(variable, options_.l2_regularization_strength, "l2"),
      .lr_power = Number(variable, options_.learning_rate_power, "learning_rate_power")};
  // The op has no beta. Adding beta / (2 * rate) to l2 gives the same formula.
  if (options_.beta != 0) rates.l2 += options_.beta / (2.0 * Maximum(rates.lr, 1e-36));
  return rates;
}

std::vector<Operation> Ftrl::ApplyDense(const Tensor& gradient, const Variable& variable) {
  const auto [accum, linear] = SlotsOf(variable);
  const FtrlRates rates = Rates(variable);
  const FtrlState state = {variable, accum, linear};
  const double shrinkage = options_.l2_shrinkage_regularization_strength;
  const FtrlState next = shrinkage > 0 ? ApplyFtrlV2(state, gradient, rates,
                                                     Number(variable, shrinkage, "l2_shrinkage"))
                                       : ApplyFtrl(state, gradient, rates);
  return {Assign(variable, next.var), Assign(accum, next.accum), Assign(linear, next.linear)};
}

std::vector<Operation> Ftrl::ApplySparse(const RowGradient& gradient, const Variable& variable) {
  const auto [accum, linear] = SlotsOf(variable);
  const FtrlRates rates = Rates(variable);
  const auto power = [this](const Tensor& x) {
    const double p = options_.learning_rate_power;
    return p == -0.5 ? Sqrt(x) : Pow(x, -p);
  };
  const Tensor& g = gradient.rows();
  const Tensor var = gradient.Of(variable), old_accum = gradient.Of(accum);
  const double shrinkage = options_.l2_shrinkage_regularization_strength;
  const Tensor shrunk = shrinkage > 0 ? g + 2 * shrinkage * var : g;
  const Tensor new_accum = old_accum + Square(g);
  const Tensor new_linear =
      gradient.Of(linear) + shrunk - (power(new_accum) - power(old_accum)) / rates.lr * var;
  const Tensor value =
      (Sign(new_linear) * rates.l1 - new_linear) / (power(new_accum) / rates.lr + 2 * rates.l2);
  return {gradient.Assign(variable, Where(Greater(Abs(new_linear), rates.l1), value, 0.0)),
          gradient.Assign(accum, new_accum), gradient.Assign(linear, new_linear)};
}

}  // namespace estimator::train
