#include "estimator/nn/train/row_gradient.h"

#include "estimator/graph/node.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::train {
namespace {

// Returns the UnsortedSegmentSum of the slices, which the runtime computes by rows
// (runtime/passes/row_updates.h). `dense` itself may be a sum or a cast of such sums, which the
// runtime would compute for the whole table.
Tensor SumOf(const IndexedSlices& slices, const Tensor& dense) {
  if (!dense.valid()) return dense;
  const Node& node = *dense.node();
  const bool is_it = node.op() == "UnsortedSegmentSum" && node.input(0) == slices.values &&
                     node.input(1) == slices.indices;
  return is_it ? dense : AddUp(slices, dense.dim(0));
}

}  // namespace

RowGradient::RowGradient(const Tensor& dense, const IndexedSlices& slices)
    : dense_(dense),
      indices_(slices.indices),
      rows_(Gather(SumOf(slices, dense), slices.indices)) {}

Tensor RowGradient::Of(const Variable& variable) const { return Gather(variable, indices_); }

Operation RowGradient::Assign(const Variable& variable, const Tensor& rows) const {
  return estimator::Assign(variable, TensorScatterUpdate(variable, ExpandDims(indices_, 1), rows));
}

}  // namespace estimator::train
