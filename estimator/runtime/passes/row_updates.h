// Row updates: a step that looks up rows of a table reads and writes those rows, not the table.
//   GatherV2(UnsortedSegmentSum(x, ids), ids), where nothing else reads the sum
//     -> _SumEqualRows(x, ids): the gradient of a table, which an optimizer takes by rows
//        (nn/train/row_gradient.h), is never made whole.
//   variable <- TensorScatterUpdate(variable, indices, x), or TensorScatterAdd
//     -> the same of _CheckIndices(indices). That fails in time; the scatter itself cannot fail any
//        more, so MakeSchedule may let it write into the variable.
// The bits are those of the ops before.
#ifndef ESTIMATOR_RUNTIME_PASSES_ROW_UPDATES_H_
#define ESTIMATOR_RUNTIME_PASSES_ROW_UPDATES_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

inline constexpr char kCheckIndicesOp[] = "_CheckIndices";

// REQUIRES: constants are folded, equal nodes merged. Before SelectKernels.
void UpdateRows(Module& module);

// Whether `node` scatters to indices that were checked before it runs.
bool IsCheckedScatter(const Module& module, const Node& node);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_ROW_UPDATES_H_
