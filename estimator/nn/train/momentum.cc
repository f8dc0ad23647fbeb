#include "estimator/nn/train/momentum.h"

#include <optional>

#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/optimizer_ops.h"

namespace estimator::train {

absl::Status Momentum::Validate() const {
  return OptionChecks(name()).NotNegative("momentum", momentum_.constant().value_or(0)).status();
}

void Momentum::Prepare(const std::vector<Variable>&) {
  const std::optional<double> number = momentum_.constant();
  momentum_tensor_ =
      number.has_value() ? Constant(static_cast<float>(*number), "momentum") : momentum_.Build();
}

std::vector<Operation> Momentum::ApplyDense(const Tensor& gradient, const Variable& variable) {
  const Variable accum = GetSlot(variable, "momentum", {.name = name()});
  const VarAccum next =
      ApplyMomentum(variable, accum, Rate(variable), gradient,
                    Cast(momentum_tensor_, variable.dtype()), options_.use_nesterov);
  return {Assign(variable, next.var), Assign(accum, next.accum)};
}

std::vector<Operation> Momentum::ApplySparse(const RowGradient& gradient,
                                             const Variable& variable) {
  const Variable accum = GetSlot(variable, "momentum", {.name = name()});
  const Tensor momentum = Cast(momentum_tensor_, variable.dtype()), rate = Rate(variable);
  const Tensor next = gradient.Of(accum) * momentum + gradient.rows();
  const Tensor step =
      options_.use_nesterov ? gradient.rows() * rate + next * momentum * rate : next * rate;
  return {gradient.Assign(variable, gradient.Of(variable) - step), gradient.Assign(accum, next)};
}

std::vector<Operation> Momentum::Finish() {
  momentum_tensor_ = Tensor();
  return {};
}

}  // namespace estimator::train
