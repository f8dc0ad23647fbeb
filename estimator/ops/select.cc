#include "estimator/ops/select.h"

#include "estimator/base/status.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/shape_rules.h"
#include "estimator/ops/math_binary.h"

namespace estimator {
namespace {

OutputSpecs SelectRule(const ShapeContext& context) {
  if (context.input(0).dtype != DType::kBool) {
    return InvalidArgument("the condition must be bool, not ", DTypeName(context.input(0).dtype));
  }
  EST_RETURN_IF_ERROR(CheckSameDType(context.input(1), context.input(2)));
  EST_ASSIGN_OR_RETURN(const Shape sides,
                       BroadcastShapes(context.input(1).shape, context.input(2).shape));
  EST_ASSIGN_OR_RETURN(Shape all, BroadcastShapes(context.input(0).shape, sides));
  return std::vector<TensorSpec>{{context.input(1).dtype, std::move(all)}};
}

Tensors SelectGradient(const Node& node, const Tensors& grads) {
  Tensors result(3);
  const Tensor& condition = node.input(0);
  if (GradientWanted(node.input(1))) {
    result[1] = SumToShapeOf(Where(condition, grads[0], 0), node.input(1));
  }
  if (GradientWanted(node.input(2))) {
    result[2] = SumToShapeOf(Where(condition, 0, grads[0]), node.input(2));
  }
  return result;
}

EST_REGISTER_OP("SelectV2", SelectRule, SelectGradient);

}  // namespace

Tensor Where(const Tensor& condition, const Operand& x, const Operand& y, StringArg name) {
  return AddOp("SelectV2", {condition, x.Resolve(y), y.Resolve(x)}, {}, name);
}

}  // namespace estimator
