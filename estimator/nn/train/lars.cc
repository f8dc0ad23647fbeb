#include "estimator/nn/train/lars.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "estimator/nn/train/formula_optimizer.h"
#include "estimator/nn/train/option_checks.h"
#include "estimator/nn/train/trust_ratio.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"

namespace estimator::train {

absl::Status LARS::Validate() const {
  return OptionChecks(name())
      .NotNegative("momentum", options_.momentum)
      .NotNegative("weight_decay", options_.weight_decay)
      .Positive("eeta", options_.eeta)
      .NotNegative("epsilon", options_.epsilon)
      .status();
}

Tensor LARS::Step(const Tensor& gradient, const Variable& variable) const {
  const bool skips = std::any_of(
      options_.skip_list.begin(), options_.skip_list.end(),
      [&](const std::string& part) { return absl::StrContains(variable.name(), part); });
  if (skips) return gradient * Rate(variable);
  const Tensor w = Norm(variable), g = Norm(gradient);
  const Tensor ratio = options_.eeta * w / (g + options_.weight_decay * w + options_.epsilon);
  return (gradient + options_.weight_decay * variable) * (Rate(variable) * TrustRatio(w, g, ratio));
}

std::vector<Operation> LARS::ApplyDense(const Tensor& gradient, const Variable& variable) {
  return ApplyToAll({.op = "ApplyMomentum",
                     .slots = {GetSlot(variable, "momentum", {.name = name()})},
                     .numbers = {{"lr", Number(variable, 1, "lr")},
                                 {"momentum", Number(variable, options_.momentum, "momentum")}},
                     .flag = options_.use_nesterov},
                    Step(gradient, variable), variable);
}

}  // namespace estimator::train
