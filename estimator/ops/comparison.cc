#include "estimator/ops/comparison.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/shape_rules.h"

namespace estimator {
namespace {

OutputSpecs OrderRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckNumber(context.input(0)));
  return BroadcastToBoolRule(context);
}

OutputSpecs LogicRule(const ShapeContext& context) {
  for (int i = 0; i < context.num_inputs(); ++i) {
    if (context.input(i).dtype == DType::kBool) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("takes bool, not ", DTypeName(context.input(i).dtype), "; compare it first"));
  }
  return context.num_inputs() == 1 ? SameAsInput(context) : BroadcastToBoolRule(context);
}

EST_REGISTER_OP(
    {.name = "Equal", .num_inputs = 2, .shape = BroadcastToBoolRule, .not_differentiable = true});
EST_REGISTER_OP({.name = "NotEqual",
                 .num_inputs = 2,
                 .shape = BroadcastToBoolRule,
                 .not_differentiable = true});
EST_REGISTER_OP({.name = "Less", .num_inputs = 2, .shape = OrderRule, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "LessEqual", .num_inputs = 2, .shape = OrderRule, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "Greater", .num_inputs = 2, .shape = OrderRule, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "GreaterEqual", .num_inputs = 2, .shape = OrderRule, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "LogicalAnd", .num_inputs = 2, .shape = LogicRule, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "LogicalOr", .num_inputs = 2, .shape = LogicRule, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "LogicalNot", .num_inputs = 1, .shape = LogicRule, .not_differentiable = true});

}  // namespace

#define EST_COMPARISON(op)                                        \
  Tensor op(const Operand& x, const Operand& y, StringArg name) { \
    return AddOp(#op, {x.Resolve(y), y.Resolve(x)}, {}, name);    \
  }
EST_COMPARISON(Equal)
EST_COMPARISON(NotEqual)
EST_COMPARISON(Less)
EST_COMPARISON(LessEqual)
EST_COMPARISON(Greater)
EST_COMPARISON(GreaterEqual)
#undef EST_COMPARISON

Tensor LogicalAnd(const Tensor& x, const Tensor& y, StringArg name) {
  return AddOp("LogicalAnd", {x, y}, {}, name);
}
Tensor LogicalOr(const Tensor& x, const Tensor& y, StringArg name) {
  return AddOp("LogicalOr", {x, y}, {}, name);
}
Tensor LogicalNot(const Tensor& x, StringArg name) { return AddOp("LogicalNot", {x}, {}, name); }

}  // namespace estimator
