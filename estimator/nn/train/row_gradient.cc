#include "estimator/nn/train/row_gradient.h"

#include "estimator/ops/gather.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::train {

RowGradient::RowGradient(const Tensor& dense, const Tensor& indices)
    : dense_(dense), indices_(indices), rows_(Gather(dense, indices)) {}

Tensor RowGradient::Of(const Variable& variable) const { return Gather(variable, indices_); }

Operation RowGradient::Assign(const Variable& variable, const Tensor& rows) const {
  return estimator::Assign(variable, TensorScatterUpdate(variable, ExpandDims(indices_, 1), rows));
}

}  // namespace estimator::train
