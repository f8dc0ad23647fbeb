#include "estimator/ops/math_unary.h"

#include <numbers>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/indexed_slices.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/shape_rules.h"
#include "estimator/ops/math_binary.h"

namespace estimator {
namespace {

// Computes d(x) from d(out), x and out.
using DerivativeFn = Tensor (*)(const Tensor& grad, const Tensor& x, const Tensor& out);

GradientFn FromDerivative(DerivativeFn derivative) {
  return [derivative](const Node& node, const Tensors& grads) {
    const Tensor out = ResultOf(node);
    return Tensors{derivative(grads[0], node.input(0), out)};
  };
}

OutputSpecs PredicateRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckFloating(context.input(0)));
  return std::vector<TensorSpec>{{DType::kBool, context.input(0).shape}};
}

OutputSpecs IntegerRule(const ShapeContext& context) {
  if (IsInteger(context.input(0).dtype)) return SameAsInput(context);
  return InvalidArgument("takes integers, not ", DTypeName(context.input(0).dtype));
}

OutputSpecs CastRule(const ShapeContext& context) {
  const DType to = context.attrs.dtype("DstT");
  if (DTypeSize(to) == 0 || DTypeSize(context.input(0).dtype) == 0) {
    return InvalidArgument("cannot cast ", DTypeName(context.input(0).dtype), " to ",
                           DTypeName(to));
  }
  return std::vector<TensorSpec>{{to, context.input(0).shape}};
}

EST_REGISTER_OP("Cast", CastRule, [](const Node& node, const Tensors& grads) -> Tensors {
  const DType from = node.input(0).dtype();
  if (!IsFloating(from) || !IsFloating(grads[0].dtype())) return {Tensor()};
  const Tensor cast = Cast(grads[0], from);
  if (auto slices = SlicesOf(grads[0]); slices.has_value()) {
    slices->values = Cast(slices->values, from);
    KeepSlices(cast, *slices);
  }
  return {cast};
});

}  // namespace

// Defines the function, and joins its shape rule and its derivative to the op's row.
#define EST_UNARY_FUNCTION(function, op, rule, ...)     \
  EST_REGISTER_OP(op, rule __VA_OPT__(, ) __VA_ARGS__); \
  Tensor function(const Tensor& x, StringArg name) { return AddOp(op, {x}, {}, name); }
#define EST_DERIVATIVE(expression)                                                      \
  FromDerivative([]([[maybe_unused]] const Tensor& g, [[maybe_unused]] const Tensor& x, \
                    [[maybe_unused]] const Tensor& y) { return Tensor(expression); })

// clang-format would take the products for pointers.
// clang-format off
EST_UNARY_FUNCTION(Negate, "Neg", SameAsNumberInput, EST_DERIVATIVE(-g))
EST_UNARY_FUNCTION(Abs, "Abs", SameAsNumberInput, EST_DERIVATIVE(g * Sign(x)))
EST_UNARY_FUNCTION(Square, "Square", SameAsNumberInput, EST_DERIVATIVE(g * (x * 2)))
EST_UNARY_FUNCTION(Sqrt, "Sqrt", SameAsFloatingInput, EST_DERIVATIVE(g * 0.5 / y))
EST_UNARY_FUNCTION(Rsqrt, "Rsqrt", SameAsFloatingInput, EST_DERIVATIVE(g * -0.5 * (y * y * y)))
EST_UNARY_FUNCTION(Exp, "Exp", SameAsFloatingInput, EST_DERIVATIVE(g * y))
EST_UNARY_FUNCTION(Expm1, "Expm1", SameAsFloatingInput, EST_DERIVATIVE(g * Exp(x)))
EST_UNARY_FUNCTION(Log, "Log", SameAsFloatingInput, EST_DERIVATIVE(g / x))
EST_UNARY_FUNCTION(Log1p, "Log1p", SameAsFloatingInput, EST_DERIVATIVE(g / (x + 1)))
EST_UNARY_FUNCTION(Sin, "Sin", SameAsFloatingInput, EST_DERIVATIVE(g * Cos(x)))
EST_UNARY_FUNCTION(Cos, "Cos", SameAsFloatingInput, EST_DERIVATIVE(-g * Sin(x)))
EST_UNARY_FUNCTION(Tan, "Tan", SameAsFloatingInput, EST_DERIVATIVE(g / Square(Cos(x))))
EST_UNARY_FUNCTION(Erf, "Erf", SameAsFloatingInput,
                   EST_DERIVATIVE(g * (Exp(-Square(x)) * (2 * std::numbers::inv_sqrtpi))))
EST_UNARY_FUNCTION(Reciprocal, "Reciprocal", SameAsFloatingInput, EST_DERIVATIVE(-g * Square(y)))
EST_UNARY_FUNCTION(Erfc, "Erfc", SameAsFloatingInput,
                   EST_DERIVATIVE(g * (Exp(-Square(x)) * (-2 * std::numbers::inv_sqrtpi))))
EST_UNARY_FUNCTION(Asin, "Asin", SameAsFloatingInput,
                   EST_DERIVATIVE(g * Reciprocal(Sqrt(1 - Square(x)))))
EST_UNARY_FUNCTION(Acos, "Acos", SameAsFloatingInput,
                   EST_DERIVATIVE(-g * Reciprocal(Sqrt(1 - Square(x)))))
EST_UNARY_FUNCTION(Atan, "Atan", SameAsFloatingInput, EST_DERIVATIVE(g * Reciprocal(Square(x) + 1)))
EST_UNARY_FUNCTION(Sinh, "Sinh", SameAsFloatingInput, EST_DERIVATIVE(g * Cosh(x)))
EST_UNARY_FUNCTION(Cosh, "Cosh", SameAsFloatingInput, EST_DERIVATIVE(g * Sinh(x)))
EST_UNARY_FUNCTION(Asinh, "Asinh", SameAsFloatingInput, EST_DERIVATIVE(g / Cosh(y)))
EST_UNARY_FUNCTION(Acosh, "Acosh", SameAsFloatingInput, EST_DERIVATIVE(g / Sinh(y)))
EST_UNARY_FUNCTION(Atanh, "Atanh", SameAsFloatingInput,
                   EST_DERIVATIVE(g * Reciprocal(1 - Square(x))))
// clang-format on
EST_UNARY_FUNCTION(Sign, "Sign", SameAsNumberInput)
EST_UNARY_FUNCTION(Round, "Round", SameAsNumberInput)
EST_UNARY_FUNCTION(Rint, "Rint", SameAsFloatingInput)
EST_UNARY_FUNCTION(Invert, "Invert", IntegerRule)
EST_UNARY_FUNCTION(Floor, "Floor", SameAsFloatingInput)
EST_UNARY_FUNCTION(Ceil, "Ceil", SameAsFloatingInput)
EST_UNARY_FUNCTION(IsNan, "IsNan", PredicateRule)
EST_UNARY_FUNCTION(IsInf, "IsInf", PredicateRule)
EST_UNARY_FUNCTION(IsFinite, "IsFinite", PredicateRule)
#undef EST_DERIVATIVE
#undef EST_UNARY_FUNCTION

Tensor Cast(const Tensor& x, DType dtype, StringArg name) {
  if (x.valid() && x.dtype() == dtype) return x;
  return AddOp("Cast", {x}, {{"SrcT", x.dtype()}, {"DstT", dtype}}, name);
}

}  // namespace estimator
