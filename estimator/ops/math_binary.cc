#include "estimator/ops/math_binary.h"

#include <optional>

#include "estimator/base/status.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/indexed_slices.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/shape_rules.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

OutputSpecs FloatingBroadcastRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckFloating(context.input(0)));
  return BroadcastRule(context);
}

OutputSpecs BitsRule(const ShapeContext& context) {
  if (IsInteger(context.input(0).dtype)) return BroadcastRule(context);
  return InvalidArgument("takes integers, not ", DTypeName(context.input(0).dtype));
}

// 1 if x is not 0, else 0.
Tensor NotZero(const Tensor& x) { return Cast(NotEqual(x, 0), x.dtype()); }

OutputSpecs AddNRule(const ShapeContext& context) {
  if (context.num_inputs() == 0) return InvalidArgument("takes at least one input");
  EST_RETURN_IF_ERROR(CheckNumber(context.input(0)));
  for (int i = 1; i < context.num_inputs(); ++i) {
    if (context.input(i) == context.input(0)) continue;
    return InvalidArgument("input ", i, " is ", context.input(i).ToString(), ", but input 0 is ",
                           context.input(0).ToString());
  }
  return SameAsInput(context);
}

// Computes a partial derivative from d(out), x, y and out.
using PartialFn = Tensor (*)(const Tensor& grad, const Tensor& x, const Tensor& y,
                             const Tensor& out);

// A gradient function from the two partial derivatives. Each has the broadcast shape, and is then
// summed to the shape of its operand.
GradientFn FromPartials(PartialFn by_x, PartialFn by_y) {
  return [by_x, by_y](const Node& node, const Tensors& grads) {
    const Tensor &x = node.input(0), &y = node.input(1), out = ResultOf(node);
    Tensors result(2);
    if (GradientWanted(x)) result[0] = SumToShapeOf(by_x(grads[0], x, y, out), x);
    if (GradientWanted(y)) result[1] = SumToShapeOf(by_y(grads[0], x, y, out), y);
    return result;
  };
}

// The derivative of a power has log x only if x > 0, as in TensorFlow; otherwise it has 0.
Tensor PowerByExponent(const Tensor& grad, const Tensor& x, const Tensor& power) {
  const Tensor positive = Greater(x, 0);
  return grad * power * Where(positive, Log(Where(positive, x, 1)), 0);
}

EST_REGISTER_OP("AddN", AddNRule, [](const Node& node, const Tensors& grads) {
  return Tensors(static_cast<size_t>(node.num_inputs()), grads[0]);
});
// The function TruncateDiv makes Div, as tf.truncatediv does. Imported graphs have this one.
EST_REGISTER_OP("TruncateDiv", BroadcastRule);

}  // namespace

// Defines the function, and joins its shape rule and its partial derivatives to the op's row.
#define EST_BINARY_FUNCTION(function, op, rule, ...)                    \
  EST_REGISTER_OP(op, rule __VA_OPT__(, ) __VA_ARGS__);                 \
  Tensor function(const Operand& x, const Operand& y, StringArg name) { \
    return AddOp(op, {x.Resolve(y), y.Resolve(x)}, {}, name);           \
  }
#define EST_PARTIALS(by_x, by_y) FromPartials(EST_PARTIAL(by_x), EST_PARTIAL(by_y))
#define EST_PARTIAL(expression)                                           \
  ([]([[maybe_unused]] const Tensor& g, [[maybe_unused]] const Tensor& x, \
      [[maybe_unused]] const Tensor& y,                                   \
      [[maybe_unused]] const Tensor& out) { return Tensor(expression); })

// clang-format would take the products for pointers.
// clang-format off
EST_REGISTER_OP("RealDiv", FloatingBroadcastRule, EST_PARTIALS(g / y, g * ((-x / y) / y)));
EST_BINARY_FUNCTION(Add, "AddV2", BroadcastRule, EST_PARTIALS(g, g))
EST_BINARY_FUNCTION(Subtract, "Sub", BroadcastRule, EST_PARTIALS(g, -g))
EST_BINARY_FUNCTION(Multiply, "Mul", BroadcastRule, EST_PARTIALS(g * y, x * g))
EST_BINARY_FUNCTION(TruncateDiv, "Div", BroadcastRule, EST_PARTIALS(g / y, g * ((-x / y) / y)))
EST_BINARY_FUNCTION(DivideNoNan, "DivNoNan", FloatingBroadcastRule,
                    EST_PARTIALS(DivideNoNan(g, y), g * DivideNoNan(DivideNoNan(-x, y), y)))
EST_BINARY_FUNCTION(FloorMod, "FloorMod", BroadcastRule, EST_PARTIALS(g, -g * FloorDiv(x, y)))
EST_BINARY_FUNCTION(Maximum, "Maximum", BroadcastRule,
                    EST_PARTIALS(Where(GreaterEqual(x, y), g, 0), Where(GreaterEqual(x, y), 0, g)))
EST_BINARY_FUNCTION(Minimum, "Minimum", BroadcastRule,
                    EST_PARTIALS(Where(LessEqual(x, y), g, 0), Where(LessEqual(x, y), 0, g)))
EST_BINARY_FUNCTION(Pow, "Pow", BroadcastRule,
                    EST_PARTIALS(g * y * Pow(x, y - 1), PowerByExponent(g, x, out)))
EST_BINARY_FUNCTION(SquaredDifference, "SquaredDifference", BroadcastRule,
                    EST_PARTIALS(g * 2 * (x - y), g * 2 * (y - x)))
// x is the first operand here, the ordinate: atan2(y, x).
EST_BINARY_FUNCTION(Atan2, "Atan2", FloatingBroadcastRule,
                    EST_PARTIALS(g * (y / (Square(x) + Square(y))),
                                 g * (-x / (Square(x) + Square(y)))))
// 0 if x is 0, for any y.
EST_BINARY_FUNCTION(Xdivy, "Xdivy", FloatingBroadcastRule,
                    EST_PARTIALS(g * Xdivy(NotZero(x), y), g * Xdivy(-x, Square(y))))
EST_BINARY_FUNCTION(Xlogy, "Xlogy", FloatingBroadcastRule,
                    EST_PARTIALS(g * Xlogy(NotZero(x), y), g * Xdivy(x, y)))
// clang-format on
EST_BINARY_FUNCTION(FloorDiv, "FloorDiv", BroadcastRule)
EST_BINARY_FUNCTION(TruncateMod, "TruncateMod", BroadcastRule)
EST_BINARY_FUNCTION(BitwiseAnd, "BitwiseAnd", BitsRule)
EST_BINARY_FUNCTION(BitwiseOr, "BitwiseOr", BitsRule)
EST_BINARY_FUNCTION(BitwiseXor, "BitwiseXor", BitsRule)
EST_BINARY_FUNCTION(LeftShift, "LeftShift", BitsRule)
EST_BINARY_FUNCTION(RightShift, "RightShift", BitsRule)
#undef EST_BINARY_FUNCTION
#undef EST_PARTIALS
#undef EST_PARTIAL

Tensor Divide(const Operand& x, const Operand& y, StringArg name) {
  const Tensor a = x.Resolve(y), b = y.Resolve(x);
  if (!a.valid() || !b.valid() || !IsInteger(a.dtype()) || a.dtype() != b.dtype()) {
    return AddOp("RealDiv", {a, b}, {}, name);
  }
  const DType real = DTypeSize(a.dtype()) <= 2 ? DType::kFloat32 : DType::kFloat64;
  return AddOp("RealDiv", {Cast(a, real), Cast(b, real)}, {}, name);
}

Tensor AddN(const Tensors& inputs, StringArg name) { return AddOp("AddN", inputs, {}, name); }

Tensor ClipByValue(const Tensor& x, const Operand& low, const Operand& high, StringArg name) {
  const NameScope scope(name, GraphFor({x}));
  const std::optional<IndexedSlices> slices = SlicesOf(x);
  if (!slices.has_value()) return Maximum(Minimum(x, high), low);
  IndexedSlices clipped = *slices;
  clipped.values = Maximum(Minimum(slices->values, high), low);
  return AddUp(clipped, x.dim(0));
}

Tensor SumToShapeOf(const Tensor& gradient, const Tensor& x) {
  if (!gradient.valid() || gradient.shape() == x.shape()) return gradient;
  std::vector<int64_t> axes;
  const int added = gradient.rank() - x.rank();
  for (int axis = 0; axis < gradient.rank(); ++axis) {
    if (axis < added || x.dim(axis - added) != gradient.dim(axis)) axes.push_back(axis);
  }
  const Tensor sum = ReduceSum(gradient, axes);
  return sum.shape() == x.shape() ? sum : Reshape(sum, x.shape());
}

}  // namespace estimator
