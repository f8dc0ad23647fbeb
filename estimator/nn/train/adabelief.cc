#include "estimator/nn/train/adabelief.h"

#include <algorithm>

#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/select.h"

namespace estimator::train {

absl::Status AdaBelief::Validate() const {
  return OptionChecks(name())
      .Decay("beta_1", options_.beta_1)
      .Decay("beta_2", options_.beta_2)
      .NotNegative("epsilon", options_.epsilon)
      .NotNegative("weight_decay", options_.weight_decay)
      .Positive("sma_threshold", options_.sma_threshold)
      .NotNegative("total_steps", static_cast<double>(options_.total_steps))
      .NotNegative("warmup_proportion", options_.warmup_proportion)
      .NotNegative("min_lr", options_.min_lr)
      .status();
}

void AdaBelief::Prepare(const std::vector<Variable>&) {
  beta1_power_ = GetNonSlot("beta1_power", options_.beta_1);
  beta2_power_ = GetNonSlot("beta2_power", options_.beta_2);
  step_ = GetNonSlot("step", 1, DType::kInt32);
}

// In f32 and in the package's order: sma is the difference of nearly equal numbers, so that another
// order gives another r in the first steps.
Tensor AdaBelief::Update(const Tensor& mean, const Tensor& deviation) const {
  if (!options_.rectify) return mean / deviation;
  const float sma_inf = 2.0f / (1.0f - static_cast<float>(options_.beta_2)) - 1.0f;
  const Tensor t = Cast(step_, DType::kFloat32), power = beta2_power_.read();
  const Tensor sma = sma_inf - 2.0 * t * power / (1.0 - power);
  const Tensor r =
      Sqrt((sma - 4.0) / (sma_inf - 4.0f) * (sma - 2.0) / (sma_inf - 2.0f) * sma_inf / sma);
  return Where(GreaterEqual(sma, options_.sma_threshold), Cast(r, mean.dtype()) * mean / deviation,
               mean);
}

Tensor AdaBelief::WarmRate(const Variable& variable) {
  const Tensor rate = Rate(variable);
  if (options_.total_steps == 0) return rate;
  const double total = static_cast<double>(options_.total_steps);
  const double warm = total * options_.warmup_proportion, rest = std::max(total - warm, 1.0);
  const Tensor t = Cast(step_, rate.dtype());
  return Where(LessEqual(t, warm), rate * (t / warm),
               rate + (options_.min_lr - rate) / rest * Minimum(t - warm, rest));
}

std::vector<Operation> AdaBelief::ApplyDense(const Tensor& gradient, const Variable& variable) {
  const bool decays = options_.weight_decay != 0;
  const Tensor g =
      decays && !options_.weight_decouple ? gradient + options_.weight_decay * variable : gradient;
  const Variable m = GetSlot(variable, "m", {.name = name()});
  const Variable v = GetSlot(variable, "v", {.name = name()});
  const Tensor next_m = options_.beta_1 * m + (1 - options_.beta_1) * g;
  const Tensor next_v =
      options_.beta_2 * v + (1 - options_.beta_2) * Square(g - next_m) + options_.epsilon;
  std::vector<Operation> updates = {Assign(m, next_m), Assign(v, next_v)};
  Tensor largest = next_v;
  if (options_.amsgrad) {
    const Variable vhat = GetSlot(variable, "vhat", {.name = name()});
    largest = Maximum(vhat, next_v);
    updates.push_back(Assign(vhat, largest));
  }
  const Tensor mean = next_m / (1 - Cast(beta1_power_, variable.dtype()));
  const Tensor deviation = Sqrt(largest / (1 - Cast(beta2_power_, variable.dtype())));
  Tensor update = Update(mean, deviation + options_.epsilon);
  if (decays && options_.weight_decouple) update += options_.weight_decay * variable;
  updates.push_back(Assign(variable, variable - WarmRate(variable) * update));
  return updates;
}

std::vector<Operation> AdaBelief::Finish() {
  return {Assign(beta1_power_, beta1_power_.read() * options_.beta_1),
          Assign(beta2_power_, beta2_power_.read() * options_.beta_2),
          AssignAdd(step_, Constant(1))};
}

}  // namespace estimator::train
