#include "tpu/stablehlo/ops/number.h"

#include <cfloat>
#include <cmath>
#include <limits>

namespace estimator::tpu::stablehlo {

// The power is a run-time value, so both results are computed.
Number InversePower(const Number& x, const Number& power) {
  const Number is_sqrt = power == -0.5;
  const Number other = Pow(x, -power);
  return Select(is_sqrt, Sqrt(x), other);
}

Number Abs(const Number& x) { return x.dtype() == DType::kUint8 ? x : x.Unary("abs"); }
Number Sign(const Number& x) {
  if (x.dtype() != DType::kUint8) return x.Unary("sign");
  return {x.w, x.w->Convert((x != 0).v, x.dtype())};
}
Number HalfToEven(const Number& x) {
  return IsFloating(x.dtype()) ? x.Unary("round_nearest_even") : x;
}
Number Infinity(const Number& like) { return like.Of(std::numeric_limits<double>::infinity()); }
Number IsFinite(const Number& x) { return {x.w, x.w->IsFinite(x.v)}; }
Number Tan(const Number& x) { return Sin(x) / Cos(x); }

namespace {

// Of x's shape, not a scalar.
Number Filled(const Number& x, double value) { return {x.w, x.w->Fill(x.v.type, value)}; }

// (1 - x) * (1 + x), which is exact near 1 where 1 - x * x is not.
Number OneMinusSquare(const Number& x) { return (1 - x) * (x + 1); }

// exp(|x|) / 2 and exp(-|x|) / 2. Both are products of exp(|x| / 2), which overflows only where the
// result does.
struct HalfExponentials {
  Number growing, vanishing;
};
HalfExponentials HalfExponentialsOf(const Number& x) {
  const Number root = Exp(Abs(x) * 0.5);
  return {root * 0.5 * root, Filled(x, 0.5) / root / root};
}

// Above this, x^2 + 1 rounds to x^2 and then overflows: log(2 x) takes the place of the formula.
double LargeFor(DType dtype) { return dtype == DType::kFloat64 ? 1e150 : 1e18; }

}  // namespace

// asin(x) = atan2(x, sqrt(1 - x^2))
Number Asin(const Number& x) { return Atan2(x, Sqrt(OneMinusSquare(x))); }
// acos(x) = atan2(sqrt(1 - x^2), x)
Number Acos(const Number& x) { return Atan2(Sqrt(OneMinusSquare(x)), x); }
Number Atan(const Number& x) { return Atan2(x, Filled(x, 1)); }

Number Cosh(const Number& x) {
  const HalfExponentials e = HalfExponentialsOf(x);
  return e.growing + e.vanishing;
}
// Below 1 the difference of exponentials loses bits: with e = exp(x) - 1,
// sinh(x) = (e + e / (e + 1)) / 2.
Number Sinh(const Number& x) {
  const HalfExponentials e = HalfExponentialsOf(x);
  const Number large = Sign(x) * (e.growing - e.vanishing);
  const Number m = Expm1(x);
  return Select(Abs(x) < 1, (m + m / (m + 1)) * 0.5, large);
}

// asinh(x) = sign(x) * log1p(|x| + x^2 / (1 + sqrt(x^2 + 1)))
Number Asinh(const Number& x) {
  const Number a = Abs(x), square = a * a;
  const Number usual = Log1p(a + square / (Sqrt(square + 1) + 1));
  const Number large = Log(a) + std::log(2.0);
  return Sign(x) * Select(a > LargeFor(x.dtype()), large, usual);
}
// With t = x - 1: acosh(x) = log1p(t + sqrt(t * (t + 2))). NaN below 1.
Number Acosh(const Number& x) {
  const Number t = x + -1;
  const Number usual = Log1p(t + Sqrt(t * (t + 2)));
  const Number large = Log(x) + std::log(2.0);
  return Select(x < 1, std::numeric_limits<double>::quiet_NaN(),
                Select(x > LargeFor(x.dtype()), large, usual));
}
// atanh(x) = (log1p(x) - log1p(-x)) / 2
Number Atanh(const Number& x) { return (Log1p(x) - Log1p(-x)) * 0.5; }

// If exp(x) + 1 rounds to exp(x), softplus is x. If it rounds to 1, softplus is exp(x).
Number Softplus(const Number& x) {
  const double epsilon = x.dtype() == DType::kFloat64 ? DBL_EPSILON : double{FLT_EPSILON};
  const double threshold = std::log(epsilon) + 2;
  const Number e = Exp(x);
  return Select(x > -threshold, x, Select(x < threshold, e, Log1p(e)));
}

Number Truncate(const Number& x) {
  return IsFloating(x.dtype()) ? Number{x.w, Truncated(*x.w, x.v)} : x;
}
Number FloorDiv(const Number& a, const Number& b) {
  const Number quotient = a / b;
  if (IsFloating(a.dtype())) return Floor(quotient);
  if (a.dtype() == DType::kUint8) return quotient;
  const Number rest = Remainder(a, b), below = (rest != 0) & ((rest < 0) != (b < 0));
  return quotient - Number{a.w, a.w->Convert(below.v, a.dtype())};
}
Number FloorMod(const Number& a, const Number& b) {
  const Number rest = Remainder(a, b);
  if (a.dtype() == DType::kUint8) return rest;
  return Select((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest);
}

namespace {

// Numbers out of range are clamped to it, as in TensorFlow.
Number ClampedBits(const Number& bits) {
  const double most = static_cast<double>(DTypeSize(bits.dtype()) * 8 - 1);
  return Min(Max(bits, bits.Of(0)), bits.Of(most));
}

}  // namespace

Number ShiftLeft(const Number& a, const Number& bits) {
  return a.Binary("shift_left", ClampedBits(bits));
}
Number ShiftRight(const Number& a, const Number& bits) {
  const bool is_unsigned = a.dtype() == DType::kUint8;
  return a.Binary(is_unsigned ? "shift_right_logical" : "shift_right_arithmetic",
                  ClampedBits(bits));
}

}  // namespace estimator::tpu::stablehlo
