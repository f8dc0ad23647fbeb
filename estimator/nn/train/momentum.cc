#include "estimator/nn/train/momentum.h"

#include "estimator/ops/optimizer_ops.h"

namespace estimator::train {

std::vector<Operation> Momentum::ApplyDense(const Tensor& gradient, const Variable& variable) {
  const Variable accum = GetSlot(variable, "momentum", nullptr, name());
  const VarAccum next =
      ApplyMomentum(variable, accum, Rate(variable), gradient,
                    Number(variable, momentum_, "momentum"), options_.use_nesterov);
  return {Assign(variable, next.var), Assign(accum, next.accum)};
}

}  // namespace estimator::train
