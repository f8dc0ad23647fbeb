#include "estimator/ops/operand.h"

#include "estimator/ops/constant.h"

namespace estimator {

Tensor Operand::Resolve(const Operand& other) const {
  if (!is_number_) return tensor_;
  if (!other.is_number_) return ConstantLike(other.tensor_, number_);
  return Constant(static_cast<float>(number_));
}

}  // namespace estimator
