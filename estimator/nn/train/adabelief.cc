#include "estimator/nn/train/adabelief.h"

#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"

namespace estimator::train {

absl::Status AdaBelief::Validate() const {
  return OptionChecks(name())
      .Decay("beta_1", options_.beta_1)
      .Decay("beta_2", options_.beta_2)
      .NotNegative("epsilon", options_.epsilon)
      .NotNegative("weight_decay", options_.weight_decay)
      .status();
}

void AdaBelief::Prepare(const std::vector<Variable>&) {
  beta1_power_ = GetNonSlot("beta1_power", options_.beta_1);
  beta2_power_ = GetNonSlot("beta2_power", options_.beta_2);
  step_ = GetNonSlot("step", 1, DType::kInt32);
}

std::vector<Operation> AdaBelief::ApplyDense(const Tensor& gradient, const Variable& variable) {
  const Variable m = GetSlot(variable, "m", {.name = name()});
  const Variable s = GetSlot(variable, "v", {.name = name()});
  const Tensor next_m = options_.beta_1 * m + (1 - options_.beta_1) * gradient;
  const Tensor next_s =
      options_.beta_2 * s + (1 - options_.beta_2) * Square(gradient - next_m) + options_.epsilon;
  const Tensor mean = next_m / (1 - Cast(beta1_power_, variable.dtype()));
  const Tensor deviation = Sqrt(next_s / (1 - Cast(beta2_power_, variable.dtype())));
  Tensor update = mean / (deviation + options_.epsilon);
  if (options_.weight_decay != 0) update += options_.weight_decay * variable;
  return {Assign(variable, variable - Rate(variable) * update), Assign(m, next_m),
          Assign(s, next_s)};
}

std::vector<Operation> AdaBelief::Finish() {
  return {Assign(beta1_power_, beta1_power_.read() * options_.beta_1),
          Assign(beta2_power_, beta2_power_.read() * options_.beta_2),
          AssignAdd(step_, Constant(1))};
}

}  // namespace estimator::train
