// Row updates: lets a step that looks up rows of a table read and write only these rows.
//   GatherV2(UnsortedSegmentSum(x, ids), ids), if nothing else reads the sum
//     -> _SumEqualRows(x, ids)
//     The sum is the gradient of a table, of which an optimizer takes rows
//     (nn/train/row_gradient.h). So the gradient of the whole table is never computed.
//   variable <- TensorScatterUpdate(variable, indices, x), or TensorScatterAdd
//     -> the same with _CheckIndices(indices)
//     The check fails before any update. Then the scatter itself cannot fail, so MakeSchedule may
//     let it write into the variable.
// The results have the same bits as before.
#ifndef ESTIMATOR_RUNTIME_PASSES_ROW_UPDATES_H_
#define ESTIMATOR_RUNTIME_PASSES_ROW_UPDATES_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

inline constexpr char kCheckIndicesOp[] = "_CheckIndices";

// REQUIRES: constants are folded and equal nodes are merged. Runs before SelectKernels.
void UpdateRows(Module& module);

// Whether `node` is a scatter whose indices were checked by a _CheckIndices.
bool IsCheckedScatter(const Module& module, const Node& node);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_ROW_UPDATES_H_
