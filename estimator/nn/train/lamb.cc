#include "estimator/nn/train/lamb.h"

#include "estimator/base/name_pattern.h"
#include "estimator/base/status.h"
#include "estimator/nn/train/option_checks.h"
#include "estimator/nn/train/trust_ratio.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"

namespace estimator::train {

absl::Status LAMB::Validate() const {
  EST_RETURN_IF_ERROR(OptionChecks(name())
                          .NotNegative("weight_decay_rate", options_.weight_decay_rate)
                          .Decay("beta_1", options_.beta_1)
                          .Decay("beta_2", options_.beta_2)
                          .NotNegative("epsilon", options_.epsilon)
                          .status());
  EST_RETURN_IF_ERROR(
      CompileNamePatterns("exclude_from_weight_decay", options_.exclude_from_weight_decay)
          .status());
  return CompileNamePatterns("exclude_from_layer_adaptation",
                             options_.exclude_from_layer_adaptation)
      .status();
}

bool LAMB::Adapts(const Variable& variable) const {
  if (options_.exclude_from_layer_adaptation.empty()) {
    return !IsExcluded(variable, "exclude_from_weight_decay", options_.exclude_from_weight_decay);
  }
  return !IsExcluded(variable, "exclude_from_layer_adaptation",
                     options_.exclude_from_layer_adaptation);
}

std::vector<Operation> LAMB::ApplyDense(const Tensor& gradient, const Variable& variable) {
  const Variable m = GetSlot(variable, "adam_m"), v = GetSlot(variable, "adam_v");
  const Tensor next_m = options_.beta_1 * m + (1 - options_.beta_1) * gradient;
  const Tensor next_v = options_.beta_2 * v + (1 - options_.beta_2) * Square(gradient);
  Tensor update = next_m / (Sqrt(next_v) + options_.epsilon);
  if (options_.weight_decay_rate != 0 &&
      !IsExcluded(variable, "exclude_from_weight_decay", options_.exclude_from_weight_decay)) {
    update += options_.weight_decay_rate * variable;
  }
  Tensor rate = Rate(variable);
  if (Adapts(variable)) {
    const Tensor w = Norm(variable), u = Norm(update);
    rate = TrustRatio(w, u, w / u) * rate;
  }
  return {Assign(variable, variable - rate * update), Assign(m, next_m), Assign(v, next_v)};
}

}  // namespace estimator::train
