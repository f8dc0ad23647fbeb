#include "estimator/ops/math_unary.h"

#include <numbers>

#include "absl/strings/str_cat.h"
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
  return [derivative](const Node& node, const std::vector<Tensor>& grads) {
    const Tensor out(grads[0].graph(), const_cast<Node*>(&node), 0);
    return std::vector<Tensor>{derivative(grads[0], node.input(0), out)};
  };
}

#define EST_UNARY_OP(op, rule, derivative)                                                    \
  EST_REGISTER_OP({.name = op,                                                                \
                   .num_inputs = 1,                                                           \
                   .shape = rule,                                                             \
                   .gradient = FromDerivative(                                                \
                       []([[maybe_unused]] const Tensor& g, [[maybe_unused]] const Tensor& x, \
                          [[maybe_unused]] const Tensor& y) { return Tensor(derivative); })})

EST_UNARY_OP("Neg", SameAsNumberInput, -g);
EST_UNARY_OP("Abs", SameAsNumberInput, g* Sign(x));
EST_UNARY_OP("Square", SameAsNumberInput, g*(x * 2));
EST_UNARY_OP("Sqrt", SameAsFloatingInput, g * 0.5 / y);
EST_UNARY_OP("Rsqrt", SameAsFloatingInput, g * -0.5 * (y * y * y));
EST_UNARY_OP("Exp", SameAsFloatingInput, g* y);
EST_UNARY_OP("Expm1", SameAsFloatingInput, g* Exp(x));
EST_UNARY_OP("Log", SameAsFloatingInput, g / x);
EST_UNARY_OP("Log1p", SameAsFloatingInput, g / (x + 1));
EST_UNARY_OP("Sin", SameAsFloatingInput, g* Cos(x));
EST_UNARY_OP("Cos", SameAsFloatingInput, -g* Sin(x));
EST_UNARY_OP("Tan", SameAsFloatingInput, g / Square(Cos(x)));
EST_UNARY_OP("Erf", SameAsFloatingInput, g*(Exp(-Square(x)) * (2 * std::numbers::inv_sqrtpi)));
EST_UNARY_OP("Reciprocal", SameAsFloatingInput, -g* Square(y));
EST_UNARY_OP("Erfc", SameAsFloatingInput, g*(Exp(-Square(x)) * (-2 * std::numbers::inv_sqrtpi)));
EST_UNARY_OP("Asin", SameAsFloatingInput, g* Reciprocal(Sqrt(1 - Square(x))));
EST_UNARY_OP("Acos", SameAsFloatingInput, -g* Reciprocal(Sqrt(1 - Square(x))));
EST_UNARY_OP("Atan", SameAsFloatingInput, g* Reciprocal(Square(x) + 1));
EST_UNARY_OP("Sinh", SameAsFloatingInput, g* Cosh(x));
EST_UNARY_OP("Cosh", SameAsFloatingInput, g* Sinh(x));
EST_UNARY_OP("Asinh", SameAsFloatingInput, g / Cosh(y));
EST_UNARY_OP("Acosh", SameAsFloatingInput, g / Sinh(y));
EST_UNARY_OP("Atanh", SameAsFloatingInput, g* Reciprocal(1 - Square(x)));
#undef EST_UNARY_OP

OutputSpecs PredicateRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckFloating(context.input(0)));
  return std::vector<TensorSpec>{{DType::kBool, context.input(0).shape}};
}

OutputSpecs IntegerRule(const ShapeContext& context) {
  if (IsInteger(context.input(0).dtype)) return SameAsInput(context);
  return absl::InvalidArgumentError(
      absl::StrCat("takes integers, not ", DTypeName(context.input(0).dtype)));
}

OutputSpecs CastRule(const ShapeContext& context) {
  const DType to = context.attrs.dtype("DstT");
  if (DTypeSize(to) == 0 || DTypeSize(context.input(0).dtype) == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot cast ", DTypeName(context.input(0).dtype), " to ", DTypeName(to)));
  }
  return std::vector<TensorSpec>{{to, context.input(0).shape}};
}

EST_REGISTER_OP(
    {.name = "Sign", .num_inputs = 1, .shape = SameAsNumberInput, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "Round", .num_inputs = 1, .shape = SameAsNumberInput, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "Rint", .num_inputs = 1, .shape = SameAsFloatingInput, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "Invert", .num_inputs = 1, .shape = IntegerRule, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "Floor", .num_inputs = 1, .shape = SameAsFloatingInput, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "Ceil", .num_inputs = 1, .shape = SameAsFloatingInput, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "IsNan", .num_inputs = 1, .shape = PredicateRule, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "IsInf", .num_inputs = 1, .shape = PredicateRule, .not_differentiable = true});
EST_REGISTER_OP(
    {.name = "IsFinite", .num_inputs = 1, .shape = PredicateRule, .not_differentiable = true});

EST_REGISTER_OP({.name = "Cast",
                 .num_inputs = 1,
                 .shape = CastRule,
                 .gradient = [](const Node& node,
                                const std::vector<Tensor>& grads) -> std::vector<Tensor> {
                   const DType from = node.input(0).dtype();
                   if (!IsFloating(from) || !IsFloating(grads[0].dtype())) return {Tensor()};
                   const Tensor cast = Cast(grads[0], from);
                   if (auto slices = SlicesOf(grads[0]); slices.has_value()) {
                     slices->values = Cast(slices->values, from);
                     KeepSlices(cast, *slices);
                   }
                   return {cast};
                 }});

}  // namespace

#define EST_UNARY_FUNCTION(function, op) \
  Tensor function(const Tensor& x, StringArg name) { return AddOp(op, {x}, {}, name); }
EST_UNARY_FUNCTION(Negate, "Neg")
EST_UNARY_FUNCTION(Abs, "Abs")
EST_UNARY_FUNCTION(Sign, "Sign")
EST_UNARY_FUNCTION(Square, "Square")
EST_UNARY_FUNCTION(Sqrt, "Sqrt")
EST_UNARY_FUNCTION(Rsqrt, "Rsqrt")
EST_UNARY_FUNCTION(Exp, "Exp")
EST_UNARY_FUNCTION(Expm1, "Expm1")
EST_UNARY_FUNCTION(Log, "Log")
EST_UNARY_FUNCTION(Log1p, "Log1p")
EST_UNARY_FUNCTION(Sin, "Sin")
EST_UNARY_FUNCTION(Cos, "Cos")
EST_UNARY_FUNCTION(Tan, "Tan")
EST_UNARY_FUNCTION(Erf, "Erf")
EST_UNARY_FUNCTION(Erfc, "Erfc")
EST_UNARY_FUNCTION(Asin, "Asin")
EST_UNARY_FUNCTION(Acos, "Acos")
EST_UNARY_FUNCTION(Atan, "Atan")
EST_UNARY_FUNCTION(Sinh, "Sinh")
EST_UNARY_FUNCTION(Cosh, "Cosh")
EST_UNARY_FUNCTION(Asinh, "Asinh")
EST_UNARY_FUNCTION(Acosh, "Acosh")
EST_UNARY_FUNCTION(Atanh, "Atanh")
EST_UNARY_FUNCTION(Rint, "Rint")
EST_UNARY_FUNCTION(Invert, "Invert")
EST_UNARY_FUNCTION(Floor, "Floor")
EST_UNARY_FUNCTION(Ceil, "Ceil")
EST_UNARY_FUNCTION(Round, "Round")
EST_UNARY_FUNCTION(Reciprocal, "Reciprocal")
EST_UNARY_FUNCTION(IsNan, "IsNan")
EST_UNARY_FUNCTION(IsInf, "IsInf")
EST_UNARY_FUNCTION(IsFinite, "IsFinite")
#undef EST_UNARY_FUNCTION

Tensor Cast(const Tensor& x, DType dtype, StringArg name) {
  if (x.valid() && x.dtype() == dtype) return x;
  return AddOp("Cast", {x}, {{"SrcT", x.dtype()}, {"DstT", dtype}}, name);
}

}  // namespace estimator
