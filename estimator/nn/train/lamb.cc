#include "estimator/nn/train/lamb.h"

#include "estimator/base/name_pattern.h"
#include "estimator/base/status.h"
#include "estimator/nn/train/option_checks.h"
#include "estimator/nn/train/trust_ratio.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"

namespace estimator::train {

LAMB::LAMB(Schedule learning_rate, LAMBOptions options)
    : AdamWeightDecay(std::move(learning_rate),
                      {.weight_decay_rate = options.weight_decay_rate,
                       .beta_1 = options.beta_1,
                       .beta_2 = options.beta_2,
                       .epsilon = options.epsilon,
                       .exclude_from_weight_decay = options.exclude_from_weight_decay,
                       .name = options.name}),
      options_(std::move(options)) {}

absl::Status LAMB::Validate() const {
  EST_RETURN_IF_ERROR(AdamWeightDecay::Validate());
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

Tensor LAMB::StepRate(const Variable& variable, const Tensor& update) {
  const Tensor rate = Rate(variable);
  if (!Adapts(variable)) return rate;
  const Tensor w = Norm(variable), u = Norm(update);
  return TrustRatio(w, u, w / u) * rate;
}

}  // namespace estimator::train
