#include "estimator/nn/train/rms_prop.h"

#include "estimator/nn/initializers.h"
#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/optimizer_ops.h"

namespace estimator::train {

absl::Status RMSProp::Validate() const {
  return OptionChecks(name())
      .Decay("decay", options_.decay)
      .NotNegative("momentum", options_.momentum)
      .NotNegative("epsilon", options_.epsilon)
      .status();
}

std::vector<Operation> RMSProp::ApplyDense(const Tensor& gradient, const Variable& variable) {
  const Variable ms =
      GetSlot(variable, "rms", {.initializer = initializers::Ones(), .name = name()});
  const RMSPropRates rates = {.lr = Rate(variable),
                              .rho = Number(variable, options_.decay, "decay"),
                              .momentum = Number(variable, options_.momentum, "momentum"),
                              .epsilon = Number(variable, options_.epsilon, "epsilon")};
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

}  // namespace estimator::train
