#include "estimator/nn/train/adadelta.h"

#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
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

std::vector<Operation> Adadelta::ApplySparse(const RowGradient& gradient,
                                             const Variable& variable) {
  const Variable accum = GetSlot(variable, "accum", {.name = name()});
  const Variable accum_update = GetSlot(variable, "accum_update", {.name = name()});
  const Tensor rho = Number(variable, options_.rho, "rho"),
               epsilon = Number(variable, options_.epsilon, "epsilon");
  const Tensor& g = gradient.rows();
  const Tensor old_update = gradient.Of(accum_update);
  const Tensor next = gradient.Of(accum) * rho + Square(g) * (1 - rho);
  const Tensor update = Sqrt(old_update + epsilon) * Rsqrt(next + epsilon) * g;
  return {gradient.Assign(variable, gradient.Of(variable) - update * Rate(variable)),
          gradient.Assign(accum, next),
          gradient.Assign(accum_update, old_update * rho + Square(update) * (1 - rho))};
}

}  // namespace estimator::train
