// Functions of one element, and Cast. 16-bit floats are computed in float32, as in the reference
// kernels.
#include <cmath>
#include <limits>

#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

using Fn = Value (*)(Writer& w, const Value& x);

OpLowering Elementwise(Fn fn) {
  return Guarded([fn](Writer& w, const LoweringArgs& args) -> LoweringResult {
    const Value y = fn(w, Widened(w, args.input(0)));
    return Values{w.Convert(y, args.output(0).dtype)};
  });
}

Value Number(Writer& w, const Value& like, double value) { return w.Scalar(like.dtype(), value); }

Value Abs(Writer& w, const Value& x) { return x.dtype() == DType::kUint8 ? x : w.Unary("abs", x); }
Value Sign(Writer& w, const Value& x) {
  if (x.dtype() != DType::kUint8) return w.Unary("sign", x);
  return w.Convert(w.Compare("NE", x, Number(w, x, 0)), x.dtype());
}
Value Square(Writer& w, const Value& x) { return w.Mul(x, x); }
Value Round(Writer& w, const Value& x) {
  return IsFloating(x.dtype()) ? w.Unary("round_nearest_even", x) : x;
}
Value Reciprocal(Writer& w, const Value& x) { return w.Div(Number(w, x, 1), x); }
Value IsNan(Writer& w, const Value& x) { return w.Compare("NE", x, x); }
Value IsInf(Writer& w, const Value& x) {
  const double infinity = std::numeric_limits<double>::infinity();
  return w.Compare("EQ", w.Unary("abs", x), Number(w, x, infinity));
}
Value IsFinite(Writer& w, const Value& x) { return w.IsFinite(x); }
Value Tan(Writer& w, const Value& x) { return w.Div(w.Unary("sine", x), w.Unary("cosine", x)); }

// (1 - x) * (1 + x), which is exact near 1 where 1 - x * x is not.
Value OneMinusSquare(Writer& w, const Value& x) {
  return w.Mul(w.Sub(Number(w, x, 1), x), w.AddConst(x, 1));
}
// asin(x) = atan2(x, sqrt(1 - x^2))
Value Asin(Writer& w, const Value& x) {
  return w.Binary("atan2", x, w.Unary("sqrt", OneMinusSquare(w, x)));
}
// acos(x) = atan2(sqrt(1 - x^2), x)
Value Acos(Writer& w, const Value& x) {
  return w.Binary("atan2", w.Unary("sqrt", OneMinusSquare(w, x)), x);
}
Value Atan(Writer& w, const Value& x) { return w.Binary("atan2", x, w.Fill(x.type, 1)); }

// exp(|x|) / 2 and exp(-|x|) / 2. Both are products of exp(|x| / 2), which overflows only where the
// result does.
struct HalfExponentials {
  Value growing, vanishing;
};
HalfExponentials HalfExponentialsOf(Writer& w, const Value& x) {
  const Value root = w.Unary("exponential", w.MulConst(w.Unary("abs", x), 0.5));
  return {w.Mul(w.MulConst(root, 0.5), root), w.Div(w.Div(w.Fill(x.type, 0.5), root), root)};
}
Value Cosh(Writer& w, const Value& x) {
  const HalfExponentials e = HalfExponentialsOf(w, x);
  return w.Add(e.growing, e.vanishing);
}
// Below 1 the difference of exponentials loses bits: with e = exp(x) - 1,
// sinh(x) = (e + e / (e + 1)) / 2.
Value Sinh(Writer& w, const Value& x) {
  const HalfExponentials e = HalfExponentialsOf(w, x);
  const Value large = w.Mul(w.Unary("sign", x), w.Sub(e.growing, e.vanishing));
  const Value m = w.Unary("exponential_minus_one", x);
  const Value small = w.MulConst(w.Add(m, w.Div(m, w.AddConst(m, 1))), 0.5);
  return w.Select(w.Compare("LT", w.Unary("abs", x), Number(w, x, 1)), small, large);
}

// Above this, x^2 + 1 rounds to x^2 and then overflows: log(2 x) takes the place of the formula.
double LargeFor(DType dtype) { return dtype == DType::kFloat64 ? 1e150 : 1e18; }

// asinh(x) = sign(x) * log1p(|x| + x^2 / (1 + sqrt(x^2 + 1)))
Value Asinh(Writer& w, const Value& x) {
  const Value a = w.Unary("abs", x), square = w.Mul(a, a);
  const Value root = w.Unary("sqrt", w.AddConst(square, 1));
  const Value usual = w.Unary("log_plus_one", w.Add(a, w.Div(square, w.AddConst(root, 1))));
  const Value large = w.AddConst(w.Unary("log", a), std::log(2.0));
  const Value value = w.Select(w.Compare("GT", a, Number(w, x, LargeFor(x.dtype()))), large, usual);
  return w.Mul(w.Unary("sign", x), value);
}
// With t = x - 1: acosh(x) = log1p(t + sqrt(t * (t + 2))). NaN below 1.
Value Acosh(Writer& w, const Value& x) {
  const Value t = w.AddConst(x, -1);
  const Value root = w.Unary("sqrt", w.Mul(t, w.AddConst(t, 2)));
  const Value usual = w.Unary("log_plus_one", w.Add(t, root));
  const Value large = w.AddConst(w.Unary("log", x), std::log(2.0));
  const Value value = w.Select(w.Compare("GT", x, Number(w, x, LargeFor(x.dtype()))), large, usual);
  const Value outside = w.Compare("LT", x, Number(w, x, 1));
  return w.Select(outside, Number(w, x, std::numeric_limits<double>::quiet_NaN()), value);
}
// atanh(x) = (log1p(x) - log1p(-x)) / 2
Value Atanh(Writer& w, const Value& x) {
  const Value up = w.Unary("log_plus_one", x);
  const Value down = w.Unary("log_plus_one", w.Unary("negate", x));
  return w.MulConst(w.Sub(up, down), 0.5);
}

#define EST_UNARY(op, function) EST_REGISTER_STABLEHLO(op, Elementwise(function))
#define EST_UNARY_OP(op, name) \
  EST_UNARY(op, ([](Writer& w, const Value& x) { return w.Unary(name, x); }))

EST_UNARY_OP("Neg", "negate");
EST_UNARY("Abs", Abs);
EST_UNARY("Sign", Sign);
EST_UNARY("Square", Square);
EST_UNARY("Round", Round);
EST_UNARY("Rint", Round);
EST_UNARY_OP("Sqrt", "sqrt");
EST_UNARY_OP("Rsqrt", "rsqrt");
EST_UNARY_OP("Exp", "exponential");
EST_UNARY_OP("Expm1", "exponential_minus_one");
EST_UNARY_OP("Log", "log");
EST_UNARY_OP("Log1p", "log_plus_one");
EST_UNARY_OP("Sin", "sine");
EST_UNARY_OP("Cos", "cosine");
EST_UNARY("Tan", Tan);
EST_UNARY("Asin", Asin);
EST_UNARY("Acos", Acos);
EST_UNARY("Atan", Atan);
EST_UNARY("Sinh", Sinh);
EST_UNARY("Cosh", Cosh);
EST_UNARY("Asinh", Asinh);
EST_UNARY("Acosh", Acosh);
EST_UNARY("Atanh", Atanh);
EST_UNARY_OP("Floor", "floor");
EST_UNARY_OP("Ceil", "ceil");
EST_UNARY("Reciprocal", Reciprocal);
EST_UNARY("IsNan", IsNan);
EST_UNARY("IsInf", IsInf);
EST_UNARY("IsFinite", IsFinite);
EST_UNARY_OP("Invert", "not");

#undef EST_UNARY_OP
#undef EST_UNARY

// NaN, and numbers that the integer cannot hold, become its smallest number. Integers below 32 bits
// take the low bits of a 64-bit integer. Both as in the x86 conversion, and so in TensorFlow's.
Value FloatToInteger(Writer& w, const Value& x, DType to) {
  const bool wide = DTypeSize(to) >= 4;
  const double limit = std::ldexp(1.0, to == DType::kInt32 ? 31 : 63);
  const Value fits = w.Binary("and", w.Compare("GE", x, Number(w, x, -limit)),
                              w.Compare("LT", x, Number(w, x, limit)));
  const Value safe = w.Select(fits, x, Number(w, x, 0));
  const Value cut = w.Convert(wide ? safe : w.Convert(safe, DType::kInt64), to);
  return w.Select(fits, cut, w.Lowest({to, Shape{}}));
}

EST_REGISTER_STABLEHLO("Cast", Guarded([](Writer& w, const LoweringArgs& args) -> LoweringResult {
                         const Value& x = args.input(0);
                         const DType to = args.output(0).dtype;
                         if (IsFloating(x.dtype()) && IsInteger(to))
                           return Values{FloatToInteger(w, Widened(w, x), to)};
                         // A 16-bit float is rounded from float32, which float64 and integers are rounded to first.
                         const bool rounded_twice = x.dtype() != to && ComputeDType(to) != to;
                         return Values{
                             w.Convert(rounded_twice ? w.Convert(x, DType::kFloat32) : x, to)};
                       }));

}  // namespace
}  // namespace estimator::tpu::stablehlo
