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

Variable Adagrad::Accumulator(const Variable& variable) {
  return GetSlot(
      variable, "accumulator",
      {.initializer = initializers::Constant(options_.initial_accumulator_value), .name = name()});
}

std::vector<Operation> Adagrad::ApplyDense(const Tensor& gradient, const Variable& variable) {
  const Variable accum = Accumulator(variable);
  const VarAccum next = ApplyAdagrad(variable, accum, Rate(variable), gradient);
  return {Assign(variable, next.var), Assign(accum, next.accum)};
}

// A row without a gradient does not change in ApplyDense either, so the choice is only one of cost.
// If the table is looked up in one place, even the bits are the same.
std::vector<Operation> Adagrad::ApplySparse(const RowGradient& gradient, const Variable& variable) {
  if (!gradient.FewerThanAll()) return ApplyDense(gradient.dense(), variable);
  const Variable accum = Accumulator(variable);
  const VarAccum next =
      ApplyAdagrad(gradient.Of(variable), gradient.Of(accum), Rate(variable), gradient.rows());
  return {gradient.Assign(variable, next.var), gradient.Assign(accum, next.accum)};
}

}  // namespace estimator::train
