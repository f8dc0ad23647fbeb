#include "estimator/nn/train/ftrl.h"

#include "estimator/nn/initializers.h"
#include "estimator/ops/optimizer_ops.h"

namespace estimator::train {

std::vector<Operation> Ftrl::ApplyDense(const Tensor& gradient, const Variable& variable) {
  const Variable accum = GetSlot(
      variable, "accum", initializers::Constant(options_.initial_accumulator_value), name());
  const Variable linear = GetSlot(variable, "linear", nullptr, name());
  const FtrlRates rates = {
      .lr = Rate(variable),
      .l1 = Number(variable, options_.l1_regularization_strength, "l1"),
      .l2 = Number(variable, options_.l2_regularization_strength, "l2"),
      .lr_power = Number(variable, options_.learning_rate_power, "learning_rate_power")};
  const FtrlState next = ApplyFtrl({variable, accum, linear}, gradient, rates);
  return {Assign(variable, next.var), Assign(accum, next.accum), Assign(linear, next.linear)};
}

}  // namespace estimator::train
