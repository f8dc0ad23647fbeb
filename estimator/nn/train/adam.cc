#include "estimator/nn/train/adam.h"

#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/optimizer_ops.h"

namespace estimator::train {

absl::Status Adam::Validate() const {
  return OptionChecks(name())
      .Decay("beta1", options_.beta1)
      .Decay("beta2", options_.beta2)
      .NotNegative("epsilon", options_.epsilon)
      .status();
}

void Adam::Prepare(const std::vector<Variable>&) {
  // These are f32 for variables of any dtype, as in TensorFlow.
  beta1_power_ = GetNonSlot("beta1_power", options_.beta1);
  beta2_power_ = GetNonSlot("beta2_power", options_.beta2);
}

std::vector<Operation> Adam::ApplyDense(const Tensor& gradient, const Variable& variable) {
  const Variable m = GetSlot(variable, "m", {.name = name()});
  const Variable v = GetSlot(variable, "v", {.name = name()});
  const AdamRates rates = {.beta1_power = Cast(beta1_power_, variable.dtype()),
                           .beta2_power = Cast(beta2_power_, variable.dtype()),
                           .lr = Rate(variable),
                           .beta1 = Number(variable, options_.beta1, "beta1"),
                           .beta2 = Number(variable, options_.beta2, "beta2"),
                           .epsilon = Number(variable, options_.epsilon, "epsilon")};
  const AdamState next = ApplyAdam({variable, m, v}, rates, gradient);
  return {Assign(variable, next.var), Assign(m, next.m), Assign(v, next.v)};
}

std::vector<Operation> Adam::Finish() {
  return {Assign(beta1_power_, beta1_power_.read() * options_.beta1),
          Assign(beta2_power_, beta2_power_.read() * options_.beta2)};
}

}  // namespace estimator::train
