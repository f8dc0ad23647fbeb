#include "estimator/nn/train/rms_prop.h"

#include "estimator/nn/initializers.h"
#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"

namespace estimator::train {

absl::Status RMSProp::Validate() const {
  return OptionChecks(name())
      .Decay("decay", options_.decay)
      .NotNegative("momentum", options_.momentum)
      .NotNegative("epsilon", options_.epsilon)
      .status();
}

RMSPropRates RMSProp::Rates(const Variable& variable) const {
  return {.lr = Rate(variable),
          .rho = Number(variable, options_.decay, "decay"),
          .momentum = Number(variable, options_.momentum, "momentum"),
          .epsilon = Number(variable, options_.epsilon, "epsilon")};
}

Variable RMSProp::MeanSquare(const Variable& variable) {
  return GetSlot(variable, "rms", {.initializer = initializers::Ones(), .name = name()});
}

std::vector<Operation> RMSProp::ApplyDense(const Tensor& gradient, const Variable& variable) {
  const Variable ms = MeanSquare(variable);
  const RMSPropRates rates = Rates(variable);
  if (options_.centered) {
    const Variable mg = GetSlot(variable, "mg", {.name = name()});
    const Variable mom = GetSlot(variable, "momentum", {.name = name()});
    const CenteredRMSPropState next =
        ApplyCenteredRMSProp({variable, mg, ms, mom}, rates, gradient);
    return {Assign(variable, next.var), Assign(ms, next.ms), Assign(mg, next.mg),
            Assign(mom, next.mom)};
  }
  const Variable mom = GetSlot(variable, "momentum", {.name = name()});
  const RMSPropState next = ApplyRMSProp({variable, ms, mom}, rates, gradient);
  return {Assign(variable, next.var), Assign(ms, next.ms), Assign(mom, next.mom)};
}

std::vector<Operation> RMSProp::ApplySparse(const RowGradient& gradient, const Variable& variable) {
  const Variable ms = MeanSquare(variable);
  const RMSPropRates rates = Rates(variable);
  const Tensor& g = gradient.rows();
  const Tensor rest = 1 - rates.rho;
  const Tensor new_ms = gradient.Of(ms) * rates.rho + Square(g) * rest;
  std::vector<Operation> updates = {gradient.Assign(ms, new_ms)};
  Tensor variance = new_ms;
  if (options_.centered) {
    const Variable mg = GetSlot(variable, "mg", {.name = name()});
    const Tensor new_mg = gradient.Of(mg) * rates.rho + g * rest;
    updates.push_back(gradient.Assign(mg, new_mg));
    variance = new_ms - Square(new_mg);
  }
  const Variable mom = GetSlot(variable, "momentum", {.name = name()});
  const Tensor new_mom =
      gradient.Of(mom) * rates.momentum + Rsqrt(variance + rates.epsilon) * rates.lr * g;
  updates.push_back(gradient.Assign(mom, new_mom));
  updates.push_back(gradient.Assign(variable, gradient.Of(variable) - new_mom));
  return updates;
}

}  // namespace estimator::train
