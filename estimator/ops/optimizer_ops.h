// The update rules of optimizers in a graph. They change nothing in place: pass the new states to
// Assign. The rules and their operands are in op_def/update_formulas.h.
//
// The states and the gradient have one floating dtype and one shape; hyperparameters are scalars of
// that dtype.
// Errors: INVALID_ARGUMENT naming the operand whose dtype or shape differs.
#ifndef ESTIMATOR_OPS_OPTIMIZER_OPS_H_
#define ESTIMATOR_OPS_OPTIMIZER_OPS_H_

#include <vector>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"
#include "estimator/op_def/update_def.h"

namespace estimator {

// Adds the op `def.op` and returns the new states.
//   operands: in the order of def.operands.
//   flag: the attribute def.flag.
std::vector<Tensor> ApplyUpdate(const UpdateDef& def, const std::vector<Tensor>& operands,
                                bool flag = false, StringArg name = "");

// The same by element-wise ops, also for rules that are no ops. Rounds as TensorFlow's SparseApply
// ops do, whose states are rows of a table.
std::vector<Tensor> ComputeUpdate(const UpdateDef& def, const std::vector<Tensor>& operands,
                                  bool flag);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_OPTIMIZER_OPS_H_
