// A value of StableHLO as the kind of number for the formulas of op_def/elementwise_table.h and
// op_def/update_formulas.h: an operation on numbers writes an op.
// StableHLO lacks some of the functions; here they are made of others.
#ifndef TPU_STABLEHLO_OPS_NUMBER_H_
#define TPU_STABLEHLO_OPS_NUMBER_H_

#include <cfloat>
#include <cmath>
#include <limits>

#include "tpu/stablehlo/ops/support.h"
#include "tpu/stablehlo/writer.h"

namespace estimator::tpu::stablehlo {

// A floating number, an integer or a bool, with the writer that writes what is done with it.
// Numbers of different shapes are broadcast.
struct Number {
  Writer* w = nullptr;
  Value v;

  DType dtype() const { return v.dtype(); }
  // A number of the same dtype.
  Number Of(double value) const { return {w, w->Scalar(dtype(), value)}; }
  Number Unary(const char* op) const { return {w, w->Unary(op, v)}; }
  Number Binary(const char* op, const Number& other) const {
    return {w, w->Binary(op, v, other.v)};
  }
  Number Compare(const char* direction, const Number& other) const {
    return {w, w->Compare(direction, v, other.v)};
  }
};

#define EST_OPERATOR(symbol, call)                                                   \
  inline Number operator symbol(const Number& a, const Number& b) { return a.call; } \
  inline Number operator symbol(const Number& a, double c) {                         \
    const Number b = a.Of(c);                                                        \
    return a.call;                                                                   \
  }                                                                                  \
  inline Number operator symbol(double c, const Number& b) {                         \
    const Number a = b.Of(c);                                                        \
    return a.call;                                                                   \
  }
EST_OPERATOR(+, Binary("add", b))
EST_OPERATOR(-, Binary("subtract", b))
EST_OPERATOR(*, Binary("multiply", b))
EST_OPERATOR(/, Binary("divide", b))
EST_OPERATOR(&, Binary("and", b))
EST_OPERATOR(|, Binary("or", b))
EST_OPERATOR(^, Binary("xor", b))
EST_OPERATOR(==, Compare("EQ", b))
EST_OPERATOR(!=, Compare("NE", b))
EST_OPERATOR(<, Compare("LT", b))
EST_OPERATOR(<=, Compare("LE", b))
EST_OPERATOR(>, Compare("GT", b))
EST_OPERATOR(>=, Compare("GE", b))
#undef EST_OPERATOR
inline Number operator-(const Number& x) { return x.Unary("negate"); }
inline Number operator~(const Number& x) { return x.Unary("not"); }

inline Number Select(const Number& condition, const Number& a, const Number& b) {
  return {a.w, a.w->Select(condition.v, a.v, b.v)};
}
inline Number Select(const Number& condition, double a, const Number& b) {
  return Select(condition, b.Of(a), b);
}
inline Number Select(const Number& condition, const Number& a, double b) {
  return Select(condition, a, a.Of(b));
}
inline Number NegMulAdd(const Number& a, const Number& b, double c) { return c - a * b; }
inline Number Square(const Number& x) { return x * x; }

#define EST_UNARY_OP(function, op) \
  inline Number function(const Number& x) { return x.Unary(op); }
EST_UNARY_OP(Sqrt, "sqrt")
EST_UNARY_OP(Rsqrt, "rsqrt")
EST_UNARY_OP(Exp, "exponential")
EST_UNARY_OP(Expm1, "exponential_minus_one")
EST_UNARY_OP(Log, "log")
EST_UNARY_OP(Log1p, "log_plus_one")
EST_UNARY_OP(Sin, "sine")
EST_UNARY_OP(Cos, "cosine")
EST_UNARY_OP(Tanh, "tanh")
EST_UNARY_OP(Sigmoid, "logistic")
EST_UNARY_OP(Floor, "floor")
EST_UNARY_OP(Ceil, "ceil")
#undef EST_UNARY_OP
#define EST_BINARY_OP(function, op) \
  inline Number function(const Number& a, const Number& b) { return a.Binary(op, b); }
EST_BINARY_OP(Max, "maximum")
EST_BINARY_OP(Min, "minimum")
EST_BINARY_OP(Pow, "power")
EST_BINARY_OP(Atan2, "atan2")
EST_BINARY_OP(Remainder, "remainder")
#undef EST_BINARY_OP

// Update rules call these.
inline Number Maximum(const Number& x, const Number& y) { return Max(x, y); }
inline Number Maximum(const Number& x, double y) { return Max(x, x.Of(y)); }
inline Number IfGreater(const Number& a, const Number& b, const Number& x) {
  return Select(a > b, x, x.Of(0));
}
// The power is a run-time value, so both results are computed.
inline Number InversePower(const Number& x, const Number& power) {
  const Number is_sqrt = power == -0.5;
  const Number other = Pow(x, -power);
  return Select(is_sqrt, Sqrt(x), other);
}

inline Number Abs(const Number& x) { return x.dtype() == DType::kUint8 ? x : x.Unary("abs"); }
inline Number Sign(const Number& x) {
  if (x.dtype() != DType::kUint8) return x.Unary("sign");
  return {x.w, x.w->Convert((x != 0).v, x.dtype())};
}
inline Number HalfToEven(const Number& x) {
  return IsFloating(x.dtype()) ? x.Unary("round_nearest_even") : x;
}
inline Number Infinity(const Number& like) {
  return like.Of(std::numeric_limits<double>::infinity());
}
inline Number IsFinite(const Number& x) { return {x.w, x.w->IsFinite(x.v)}; }
inline Number Tan(const Number& x) { return Sin(x) / Cos(x); }

// Of x's shape, not a scalar.
inline Number Filled(const Number& x, double value) { return {x.w, x.w->Fill(x.v.type, value)}; }

// (1 - x) * (1 + x), which is exact near 1 where 1 - x * x is not.
inline Number OneMinusSquare(const Number& x) { return (1 - x) * (x + 1); }

// exp(|x|) / 2 and exp(-|x|) / 2. Both are products of exp(|x| / 2), which overflows only where the
// result does.
struct HalfExponentials {
  Number growing, vanishing;
};
inline HalfExponentials HalfExponentialsOf(const Number& x) {
  const Number root = Exp(Abs(x) * 0.5);
  return {root * 0.5 * root, Filled(x, 0.5) / root / root};
}

// Above this, x^2 + 1 rounds to x^2 and then overflows: log(2 x) takes the place of the formula.
inline double LargeFor(DType dtype) { return dtype == DType::kFloat64 ? 1e150 : 1e18; }

// asin(x) = atan2(x, sqrt(1 - x^2))
inline Number Asin(const Number& x) { return Atan2(x, Sqrt(OneMinusSquare(x))); }
// acos(x) = atan2(sqrt(1 - x^2), x)
inline Number Acos(const Number& x) { return Atan2(Sqrt(OneMinusSquare(x)), x); }
inline Number Atan(const Number& x) { return Atan2(x, Filled(x, 1)); }

inline Number Cosh(const Number& x) {
  const HalfExponentials e = HalfExponentialsOf(x);
  return e.growing + e.vanishing;
}
// Below 1 the difference of exponentials loses bits: with e = exp(x) - 1,
// sinh(x) = (e + e / (e + 1)) / 2.
inline Number Sinh(const Number& x) {
  const HalfExponentials e = HalfExponentialsOf(x);
  const Number large = Sign(x) * (e.growing - e.vanishing);
  const Number m = Expm1(x);
  return Select(Abs(x) < 1, (m + m / (m + 1)) * 0.5, large);
}

// asinh(x) = sign(x) * log1p(|x| + x^2 / (1 + sqrt(x^2 + 1)))
inline Number Asinh(const Number& x) {
  const Number a = Abs(x), square = a * a;
  const Number usual = Log1p(a + square / (Sqrt(square + 1) + 1));
  const Number large = Log(a) + std::log(2.0);
  return Sign(x) * Select(a > LargeFor(x.dtype()), large, usual);
}
// With t = x - 1: acosh(x) = log1p(t + sqrt(t * (t + 2))). NaN below 1.
inline Number Acosh(const Number& x) {
  const Number t = x + -1;
  const Number usual = Log1p(t + Sqrt(t * (t + 2)));
  const Number large = Log(x) + std::log(2.0);
  return Select(x < 1, std::numeric_limits<double>::quiet_NaN(),
                Select(x > LargeFor(x.dtype()), large, usual));
}
// atanh(x) = (log1p(x) - log1p(-x)) / 2
inline Number Atanh(const Number& x) { return (Log1p(x) - Log1p(-x)) * 0.5; }

// If exp(x) + 1 rounds to exp(x), softplus is x. If it rounds to 1, softplus is exp(x).
inline Number Softplus(const Number& x) {
  const double epsilon = x.dtype() == DType::kFloat64 ? DBL_EPSILON : double{FLT_EPSILON};
  const double threshold = std::log(epsilon) + 2;
  const Number e = Exp(x);
  return Select(x > -threshold, x, Select(x < threshold, e, Log1p(e)));
}

inline Number Truncate(const Number& x) {
  return IsFloating(x.dtype()) ? Number{x.w, Truncated(*x.w, x.v)} : x;
}
inline Number FloorDiv(const Number& a, const Number& b) {
  const Number quotient = a / b;
  if (IsFloating(a.dtype())) return Floor(quotient);
  if (a.dtype() == DType::kUint8) return quotient;
  const Number rest = Remainder(a, b), below = (rest != 0) & ((rest < 0) != (b < 0));
  return quotient - Number{a.w, a.w->Convert(below.v, a.dtype())};
}
inline Number FloorMod(const Number& a, const Number& b) {
  const Number rest = Remainder(a, b);
  if (a.dtype() == DType::kUint8) return rest;
  return Select((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest);
}

// Numbers out of range are clamped to it, as in TensorFlow.
inline Number ClampedBits(const Number& bits) {
  const double most = static_cast<double>(DTypeSize(bits.dtype()) * 8 - 1);
  return Min(Max(bits, bits.Of(0)), bits.Of(most));
}

inline Number ShiftLeft(const Number& a, const Number& bits) {
  return a.Binary("shift_left", ClampedBits(bits));
}
inline Number ShiftRight(const Number& a, const Number& bits) {
  const bool is_unsigned = a.dtype() == DType::kUint8;
  return a.Binary(is_unsigned ? "shift_right_logical" : "shift_right_arithmetic",
                  ClampedBits(bits));
}

// In erf.cc.
Number Erf(const Number& x);
Number Erfc(const Number& x);

}  // namespace estimator::tpu::stablehlo

#endif  // TPU_STABLEHLO_OPS_NUMBER_H_
