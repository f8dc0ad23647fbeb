#include "estimator/nn/train/adagrad.h"

#include "estimator/nn/initializers.h"
#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/optimizer_ops.h"

namespace estimator::train {

absl::Status Adagrad::Validate() const {
  return OptionChecks(name())
      .Positive("initial_accumulator_value", options_.initial_accumulator_value)
      .status();
}

std::vector<Operation> Adagrad::ApplyDense(const Tensor& gradient, const Variable& variable) {
  const Variable accum = GetSlot(
      variable, "accumulator",
      {.initializer = initializers::Constant(options_.initial_accumulator_value), .name = name()});
  const VarAccum next = ApplyAdagrad(variable, accum, Rate(variable), gradient);
  return {Assign(variable, next.var), Assign(accum, next.accum)};
}

}  // namespace estimator::train
