// Comparisons and logic for each element, with broadcasting. The result is bool; no gradient flows.
// Errors (kept by the graph): as for arithmetic (math_binary.h). Logic takes bool only.
#ifndef ESTIMATOR_OPS_COMPARISON_H_
#define ESTIMATOR_OPS_COMPARISON_H_

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"
#include "estimator/ops/operand.h"

namespace estimator {

// Comparisons are functions, because == and < on tensors compare handles. Equal and NotEqual also
// take strings.
Tensor Equal(const Operand& x, const Operand& y, StringArg name = "Equal");
Tensor NotEqual(const Operand& x, const Operand& y, StringArg name = "NotEqual");
Tensor Less(const Operand& x, const Operand& y, StringArg name = "Less");
Tensor LessEqual(const Operand& x, const Operand& y, StringArg name = "LessEqual");
Tensor Greater(const Operand& x, const Operand& y, StringArg name = "Greater");
Tensor GreaterEqual(const Operand& x, const Operand& y, StringArg name = "GreaterEqual");

Tensor LogicalAnd(const Tensor& x, const Tensor& y, StringArg name = "LogicalAnd");
Tensor LogicalOr(const Tensor& x, const Tensor& y, StringArg name = "LogicalOr");
Tensor LogicalNot(const Tensor& x, StringArg name = "LogicalNot");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_COMPARISON_H_
