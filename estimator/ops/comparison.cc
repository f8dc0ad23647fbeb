#include "estimator/ops/comparison.h"

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
    return InvalidArgument("takes bool, not ", DTypeName(context.input(i).dtype),
                           "; compare it first");
  }
  return context.num_inputs() == 1 ? SameAsInput(context) : BroadcastToBoolRule(context);
}

}  // namespace

#define EST_COMPARISON(op, rule)                                  \
  EST_REGISTER_OP(#op, rule);                                     \
  Tensor op(const Operand& x, const Operand& y, StringArg name) { \
    return AddOp(#op, {x.Resolve(y), y.Resolve(x)}, {}, name);    \
  }
EST_COMPARISON(Equal, BroadcastToBoolRule)
EST_COMPARISON(NotEqual, BroadcastToBoolRule)
EST_COMPARISON(Less, OrderRule)
EST_COMPARISON(LessEqual, OrderRule)
EST_COMPARISON(Greater, OrderRule)
EST_COMPARISON(GreaterEqual, OrderRule)
#undef EST_COMPARISON

EST_REGISTER_OP("LogicalAnd", LogicRule);
EST_REGISTER_OP("LogicalOr", LogicRule);
EST_REGISTER_OP("LogicalNot", LogicRule);

Tensor LogicalAnd(const Tensor& x, const Tensor& y, StringArg name) {
  return AddOp("LogicalAnd", {x, y}, {}, name);
}
Tensor LogicalOr(const Tensor& x, const Tensor& y, StringArg name) {
  return AddOp("LogicalOr", {x, y}, {}, name);
}
Tensor LogicalNot(const Tensor& x, StringArg name) { return AddOp("LogicalNot", {x}, {}, name); }

}  // namespace estimator
