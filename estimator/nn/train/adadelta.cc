#include "estimator/nn/train/adadelta.h"

#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/optimizer_ops.h"

namespace estimator::train {

absl::Status Adadelta::Validate() const {
  return OptionChecks(name())
      .Decay("rho", options_.rho)
      .NotNegative("epsilon", options_.epsilon)
      .status();
}

std::vector<Operation> Adadelta::ApplyDense(const Tensor& gradient, const Variable& variable) {
  const Variable accum = GetSlot(variable, "accum", {.name = name()});
  const Variable accum_update = GetSlot(variable, "accum_update", {.name = name()});
  const AdadeltaState next = ApplyAdadelta({variable, accum, accum_update}, Rate(variable),
                                           Number(variable, options_.rho, "rho"),
                                           Number(variable, options_.epsilon, "epsilon"), gradient);
  return {Assign(variable, next.var), Assign(accum, next.accum),
          Assign(accum_update, next.accum_update)};
}

}  // namespace estimator::train
