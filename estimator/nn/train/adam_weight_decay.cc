#include "estimator/nn/train/adam_weight_decay.h"

#include "estimator/base/name_pattern.h"
#include "estimator/base/status.h"
#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"

namespace estimator::train {

absl::Status AdamWeightDecay::Validate() const {
  EST_RETURN_IF_ERROR(OptionChecks(name())
                          .NotNegative("weight_decay_rate", options_.weight_decay_rate)
                          .Decay("beta_1", options_.beta_1)
                          .Decay("beta_2", options_.beta_2)
                          .NotNegative("epsilon", options_.epsilon)
                          .status());
  return CompileNamePatterns("exclude_from_weight_decay", options_.exclude_from_weight_decay)
      .status();
}

std::vector<Operation> AdamWeightDecay::ApplyDense(const Tensor& gradient,
                                                   const Variable& variable) {
  const Variable m = GetSlot(variable, "adam_m"), v = GetSlot(variable, "adam_v");
  const Tensor next_m = options_.beta_1 * m + (1 - options_.beta_1) * gradient;
  const Tensor next_v = options_.beta_2 * v + (1 - options_.beta_2) * Square(gradient);
  Tensor update = next_m / (Sqrt(next_v) + options_.epsilon);
  if (options_.weight_decay_rate != 0 &&
      !IsExcluded(variable, "exclude_from_weight_decay", options_.exclude_from_weight_decay)) {
    update += options_.weight_decay_rate * variable;
  }
  return {Assign(variable, variable - StepRate(variable, update) * update), Assign(m, next_m),
          Assign(v, next_v)};
}

}  // namespace estimator::train
