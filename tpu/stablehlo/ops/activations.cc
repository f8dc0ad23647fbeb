// Activations and their gradient ops, computed for each element; 16-bit floats in float32.
// Formulas: kernels/reference/activations.cc.
#include <cfloat>
#include <cmath>

#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

constexpr double kScale = 1.0507009873554804934193349852946;
constexpr double kScaleAlpha = 1.7580993408473768599402175208123;

using UnaryFn = Value (*)(Writer& w, const Value& x);
// The operands are in the order of the op's: gradient and x, or y and gradient.
using BinaryFn = Value (*)(Writer& w, const Value& a, const Value& b);

OpLowering Unary(UnaryFn fn) {
  return Guarded([fn](Writer& w, const LoweringArgs& args) -> LoweringResult {
    const Value y = fn(w, Widened(w, args.input(0)));
    return Values{w.Convert(y, args.output(0).dtype)};
  });
}
OpLowering Binary(BinaryFn fn) {
  return Guarded([fn](Writer& w, const LoweringArgs& args) -> LoweringResult {
    const Value y = fn(w, Widened(w, args.input(0)), Widened(w, args.input(1)));
    return Values{w.Convert(y, args.output(0).dtype)};
  });
}

Value Number(Writer& w, const Value& like, double value) { return w.Scalar(like.dtype(), value); }
Value Below(Writer& w, const Value& x, double limit) {
  return w.Compare("LT", x, Number(w, x, limit));
}
Value Above(Writer& w, const Value& x, double limit) {
  return w.Compare("GT", x, Number(w, x, limit));
}
Value Exp(Writer& w, const Value& x) { return w.Unary("exponential", x); }
Value Expm1(Writer& w, const Value& x) { return w.Unary("exponential_minus_one", x); }

// Comparisons, not maximum: as in the kernels, NaN stays NaN.
Value Relu(Writer& w, const Value& x) { return w.Select(Below(w, x, 0), Number(w, x, 0), x); }
Value ReluGrad(Writer& w, const Value& gradient, const Value& x) {
  return w.Select(Above(w, x, 0), gradient, Number(w, x, 0));
}
Value Relu6(Writer& w, const Value& x) {
  return w.Select(Above(w, x, 6), Number(w, x, 6), Relu(w, x));
}
Value Relu6Grad(Writer& w, const Value& gradient, const Value& x) {
  const Value inside = w.Binary("and", Above(w, x, 0), Below(w, x, 6));
  return w.Select(inside, gradient, Number(w, x, 0));
}
Value Elu(Writer& w, const Value& x) { return w.Select(Below(w, x, 0), Expm1(w, x), x); }
Value EluGrad(Writer& w, const Value& gradient, const Value& y) {
  return w.Select(Below(w, y, 0), w.Mul(gradient, w.AddConst(y, 1)), gradient);
}
Value Selu(Writer& w, const Value& x) {
  return w.Select(Below(w, x, 0), w.MulConst(Expm1(w, x), kScaleAlpha), w.MulConst(x, kScale));
}
Value SeluGrad(Writer& w, const Value& gradient, const Value& y) {
  return w.Select(Below(w, y, 0), w.Mul(gradient, w.AddConst(y, kScaleAlpha)),
                  w.MulConst(gradient, kScale));
}
// If exp(x) + 1 rounds to exp(x), softplus is x. If it rounds to 1, softplus is exp(x).
Value Softplus(Writer& w, const Value& x) {
  const double epsilon = x.dtype() == DType::kFloat64 ? DBL_EPSILON : double{FLT_EPSILON};
  const double threshold = std::log(epsilon) + 2;
  const Value e = Exp(w, x);
  const Value middle = w.Select(Below(w, x, threshold), e, w.Unary("log_plus_one", e));
  return w.Select(Above(w, x, -threshold), x, middle);
}
Value SoftplusGrad(Writer& w, const Value& gradient, const Value& x) {
  return w.Div(gradient, w.AddConst(Exp(w, w.Unary("negate", x)), 1));
}
Value Softsign(Writer& w, const Value& x) { return w.Div(x, w.AddConst(w.Unary("abs", x), 1)); }
Value SoftsignGrad(Writer& w, const Value& gradient, const Value& x) {
  const Value d = w.AddConst(w.Unary("abs", x), 1);
  return w.Div(gradient, w.Mul(d, d));
}
Value Sigmoid(Writer& w, const Value& x) { return w.Unary("logistic", x); }
Value SigmoidGrad(Writer& w, const Value& y, const Value& gradient) {
  return w.Mul(w.Mul(gradient, y), w.Sub(Number(w, y, 1), y));
}
Value Tanh(Writer& w, const Value& x) { return w.Unary("tanh", x); }
Value TanhGrad(Writer& w, const Value& y, const Value& gradient) {
  return w.Mul(gradient, w.Sub(Number(w, y, 1), w.Mul(y, y)));
}

EST_REGISTER_STABLEHLO("Relu", Unary(Relu));
EST_REGISTER_STABLEHLO("ReluGrad", Binary(ReluGrad));
EST_REGISTER_STABLEHLO("Relu6", Unary(Relu6));
EST_REGISTER_STABLEHLO("Relu6Grad", Binary(Relu6Grad));
EST_REGISTER_STABLEHLO("Elu", Unary(Elu));
EST_REGISTER_STABLEHLO("EluGrad", Binary(EluGrad));
EST_REGISTER_STABLEHLO("Selu", Unary(Selu));
EST_REGISTER_STABLEHLO("SeluGrad", Binary(SeluGrad));
EST_REGISTER_STABLEHLO("Softplus", Unary(Softplus));
EST_REGISTER_STABLEHLO("SoftplusGrad", Binary(SoftplusGrad));
EST_REGISTER_STABLEHLO("Softsign", Unary(Softsign));
EST_REGISTER_STABLEHLO("SoftsignGrad", Binary(SoftsignGrad));
EST_REGISTER_STABLEHLO("Sigmoid", Unary(Sigmoid));
EST_REGISTER_STABLEHLO("SigmoidGrad", Binary(SigmoidGrad));
EST_REGISTER_STABLEHLO("Tanh", Unary(Tanh));
EST_REGISTER_STABLEHLO("TanhGrad", Binary(TanhGrad));

EST_REGISTER_STABLEHLO("LeakyRelu",
                       Guarded([](Writer& w, const LoweringArgs& args) -> LoweringResult {
                         const Value x = Widened(w, args.input(0));
                         const double alpha = args.spec.attrs.f("alpha");
                         const Value y = w.Select(Above(w, x, 0), x, w.MulConst(x, alpha));
                         return Values{w.Convert(y, args.output(0).dtype)};
                       }));
EST_REGISTER_STABLEHLO("LeakyReluGrad",
                       Guarded([](Writer& w, const LoweringArgs& args) -> LoweringResult {
                         const Value gradient = Widened(w, args.input(0)),
                                     x = Widened(w, args.input(1));
                         const double alpha = args.spec.attrs.f("alpha");
                         const Value y =
                             w.Select(Above(w, x, 0), gradient, w.MulConst(gradient, alpha));
                         return Values{w.Convert(y, args.output(0).dtype)};
                       }));

}  // namespace
}  // namespace estimator::tpu::stablehlo
