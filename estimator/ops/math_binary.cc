#include "estimator/ops/math_binary.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/indexed_slices.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/shape_rules.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/select.h"

namespace estimator {
namespace {

using Grads = std::vector<Tensor>;

OutputSpecs FloatingBroadcastRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckFloating(context.input(0)));
  return BroadcastRule(context);
}

OutputSpecs BitsRule(const ShapeContext& context) {
  if (IsInteger(context.input(0).dtype)) return BroadcastRule(context);
  return absl::InvalidArgumentError(
      absl::StrCat("takes integers, not ", DTypeName(context.input(0).dtype)));
}

// 1 if x is not 0, else 0.
Tensor NotZero(const Tensor& x) { return Cast(NotEqual(x, 0), x.dtype()); }

OutputSpecs AddNRule(const ShapeContext& context) {
  if (context.num_inputs() == 0) return absl::InvalidArgumentError("takes at least one input");
  EST_RETURN_IF_ERROR(CheckNumber(context.input(0)));
  for (int i = 1; i < context.num_inputs(); ++i) {
    if (context.input(i) == context.input(0)) continue;
    return absl::InvalidArgumentError(absl::StrCat("input ", i, " is ", context.input(i).ToString(),
                                                   ", but input 0 is ",
                                                   context.input(0).ToString()));
  }
  return SameAsInput(context);
}

// The values that a gradient of a binary op uses: d(out), x, y and out.
struct Binary {
  Tensor grad, x, y, out;
};
using PartialFn = Tensor (*)(const Binary&);

// A gradient function from the two partial derivatives (null: there is none). Each has the
// broadcast shape, and is then summed to the shape of its operand.
GradientFn FromPartials(PartialFn by_x, PartialFn by_y) {
  return [by_x, by_y](const Node& node, const Grads& grads) {
    const Binary binary{grads[0], node.input(0), node.input(1),
                        Tensor(grads[0].graph(), const_cast<Node*>(&node), 0)};
    Grads result(2);
    if (by_x != nullptr && GradientWanted(binary.x))
      result[0] = SumToShapeOf(by_x(binary), binary.x);
    if (by_y != nullptr && GradientWanted(binary.y))
      result[1] = SumToShapeOf(by_y(binary), binary.y);
    return result;
  };
}

Tensor Grad(const Binary& b) { return b.grad; }
Tensor NegativeGrad(const Binary& b) { return -b.grad; }
Tensor QuotientByX(const Binary& b) { return b.grad / b.y; }
Tensor QuotientByY(const Binary& b) { return b.grad * ((-b.x / b.y) / b.y); }

EST_REGISTER_OP({.name = "AddV2",
                 .num_inputs = 2,
                 .shape = BroadcastRule,
                 .gradient = FromPartials(Grad, Grad)});
EST_REGISTER_OP({.name = "Sub",
                 .num_inputs = 2,
                 .shape = BroadcastRule,
                 .gradient = FromPartials(Grad, NegativeGrad)});
EST_REGISTER_OP({.name = "Mul",
                 .num_inputs = 2,
                 .shape = BroadcastRule,
                 .gradient = FromPartials([](const Binary& b) { return b.grad * b.y; },
                                          [](const Binary& b) { return b.x * b.grad; })});
EST_REGISTER_OP({.name = "RealDiv",
                 .num_inputs = 2,
                 .shape = FloatingBroadcastRule,
                 .gradient = FromPartials(QuotientByX, QuotientByY)});
EST_REGISTER_OP({.name = "Div",
                 .num_inputs = 2,
                 .shape = BroadcastRule,
                 .gradient = FromPartials(QuotientByX, QuotientByY)});
EST_REGISTER_OP({.name = "DivNoNan",
                 .num_inputs = 2,
                 .shape = FloatingBroadcastRule,
                 .gradient = FromPartials([](const Binary& b) { return DivideNoNan(b.grad, b.y); },
                                          [](const Binary& b) {
                                            return b.grad *
                                                   DivideNoNan(DivideNoNan(-b.x, b.y), b.y);
                                          })});
EST_REGISTER_OP(
    {.name = "FloorDiv", .num_inputs = 2, .shape = BroadcastRule, .not_differentiable = true});
EST_REGISTER_OP({.name = "FloorMod",
                 .num_inputs = 2,
                 .shape = BroadcastRule,
                 .gradient = FromPartials(Grad, [](const Binary& b) {
                   return -b.grad * FloorDiv(b.x, b.y);
                 })});
EST_REGISTER_OP({.name = "Maximum",
                 .num_inputs = 2,
                 .shape = BroadcastRule,
                 .gradient = FromPartials(
                     [](const Binary& b) { return Where(GreaterEqual(b.x, b.y), b.grad, 0); },
                     [](const Binary& b) { return Where(GreaterEqual(b.x, b.y), 0, b.grad); })});
EST_REGISTER_OP({.name = "Minimum",
                 .num_inputs = 2,
                 .shape = BroadcastRule,
                 .gradient = FromPartials(
                     [](const Binary& b) { return Where(LessEqual(b.x, b.y), b.grad, 0); },
                     [](const Binary& b) { return Where(LessEqual(b.x, b.y), 0, b.grad); })});
// The derivative by the exponent has log x only if x > 0, as in TensorFlow; otherwise it has 0.
EST_REGISTER_OP({.name = "Pow",
                 .num_inputs = 2,
                 .shape = BroadcastRule,
                 .gradient = FromPartials(
                     [](const Binary& b) { return b.grad * b.y * Pow(b.x, b.y - 1); },
                     [](const Binary& b) {
                       const Tensor positive = Greater(b.x, 0);
                       return b.grad * b.out * Where(positive, Log(Where(positive, b.x, 1)), 0);
                     })});
EST_REGISTER_OP({.name = "SquaredDifference",
                 .num_inputs = 2,
                 .shape = BroadcastRule,
                 .gradient = FromPartials([](const Binary& b) { return b.grad * 2 * (b.x - b.y); },
                                          [](const Binary& b) {
                                            return b.grad * 2 * (b.y - b.x);
                                          })});
// x is the first operand here, the ordinate: atan2(y, x).
EST_REGISTER_OP({.name = "Atan2",
                 .num_inputs = 2,
                 .shape = FloatingBroadcastRule,
                 .gradient = FromPartials(
                     [](const Binary& b) { return b.grad * (b.y / (Square(b.x) + Square(b.y))); },
                     [](const Binary& b) {
                       return b.grad * (-b.x / (Square(b.x) + Square(b.y)));
                     })});
// 0 if x is 0, for any y.
EST_REGISTER_OP(
    {.name = "Xdivy",
     .num_inputs = 2,
     .shape = FloatingBroadcastRule,
     .gradient = FromPartials([](const Binary& b) { return b.grad * Xdivy(NotZero(b.x), b.y); },
                              [](const Binary& b) { return b.grad * Xdivy(-b.x, Square(b.y)); })});
EST_REGISTER_OP(
    {.name = "Xlogy",
     .num_inputs = 2,
     .shape = FloatingBroadcastRule,
     .gradient = FromPartials([](const Binary& b) { return b.grad * Xlogy(NotZero(b.x), b.y); },
                              [](const Binary& b) { return b.grad * Xdivy(b.x, b.y); })});
EST_REGISTER_OP(
    {.name = "TruncateDiv", .num_inputs = 2, .shape = BroadcastRule, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "TruncateMod", .num_inputs = 2, .shape = BroadcastRule, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "BitwiseAnd", .num_inputs = 2, .shape = BitsRule, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "BitwiseOr", .num_inputs = 2, .shape = BitsRule, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "BitwiseXor", .num_inputs = 2, .shape = BitsRule, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "LeftShift", .num_inputs = 2, .shape = BitsRule, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "RightShift", .num_inputs = 2, .shape = BitsRule, .not_differentiable = true});
EST_REGISTER_OP({.name = "AddN",
                 .num_inputs = -1,
                 .shape = AddNRule,
                 .gradient = [](const Node& node, const Grads& grads) {
                   return Grads(static_cast<size_t>(node.num_inputs()), grads[0]);
                 }});

Tensor BinaryOp(absl::string_view op, const Operand& x, const Operand& y, absl::string_view name) {
  return AddOp(op, {x.Resolve(y), y.Resolve(x)}, {}, name);
}

}  // namespace

Tensor Add(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("AddV2", x, y, name);
}
Tensor Subtract(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("Sub", x, y, name);
}
Tensor Multiply(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("Mul", x, y, name);
}

Tensor Divide(const Operand& x, const Operand& y, StringArg name) {
  const Tensor a = x.Resolve(y), b = y.Resolve(x);
  if (!a.valid() || !b.valid() || !IsInteger(a.dtype()) || a.dtype() != b.dtype()) {
    return AddOp("RealDiv", {a, b}, {}, name);
  }
  const DType real = DTypeSize(a.dtype()) <= 2 ? DType::kFloat32 : DType::kFloat64;
  return AddOp("RealDiv", {Cast(a, real), Cast(b, real)}, {}, name);
}

Tensor TruncateDiv(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("Div", x, y, name);
}
Tensor FloorDiv(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("FloorDiv", x, y, name);
}
Tensor FloorMod(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("FloorMod", x, y, name);
}
Tensor DivideNoNan(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("DivNoNan", x, y, name);
}
Tensor Maximum(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("Maximum", x, y, name);
}
Tensor Minimum(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("Minimum", x, y, name);
}
Tensor Pow(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("Pow", x, y, name);
}
Tensor SquaredDifference(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("SquaredDifference", x, y, name);
}
Tensor Atan2(const Operand& y, const Operand& x, StringArg name) {
  return BinaryOp("Atan2", y, x, name);
}

Tensor TruncateMod(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("TruncateMod", x, y, name);
}
Tensor Xdivy(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("Xdivy", x, y, name);
}
Tensor Xlogy(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("Xlogy", x, y, name);
}
Tensor BitwiseAnd(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("BitwiseAnd", x, y, name);
}
Tensor BitwiseOr(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("BitwiseOr", x, y, name);
}
Tensor BitwiseXor(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("BitwiseXor", x, y, name);
}
Tensor LeftShift(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("LeftShift", x, y, name);
}
Tensor RightShift(const Operand& x, const Operand& y, StringArg name) {
  return BinaryOp("RightShift", x, y, name);
}

Tensor AddN(const std::vector<Tensor>& inputs, StringArg name) {
  return AddOp("AddN", inputs, {}, name);
}

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
  const Tensor sum = OpBuilder("Sum", "Sum")
                         .Input(gradient)
                         .Ints("reduction_indices", axes)
                         .Attr("keep_dims", false)
                         .Build();
  if (sum.shape() == x.shape()) return sum;
  return OpBuilder("Reshape", "Reshape").Input(sum).Ints("shape", x.shape().dims()).Build();
}

}  // namespace estimator
