// The scalar kind of number for the formulas of op_def/elementwise_table.h. Functions are those of
// the C library. Integers wrap around, as two's complement does.
#ifndef ESTIMATOR_KERNELS_REFERENCE_NUMBER_H_
#define ESTIMATOR_KERNELS_REFERENCE_NUMBER_H_

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

namespace estimator {

//   T: float, double or an integer. 16-bit floats are computed in float.
template <typename T>
class Number {
 public:
  static constexpr bool kIsInteger = std::integral<T>;

  // Implicit, so that formulas have constants.
  template <typename C>
  requires std::is_arithmetic_v<C>
  constexpr Number(C value) : value_(static_cast<T>(value)) {}  // NOLINT
  constexpr T value() const { return value_; }

  friend Number operator+(Number a, Number b) {
    return Of(a, b, [](auto x, auto y) { return x + y; });
  }
  friend Number operator-(Number a, Number b) {
    return Of(a, b, [](auto x, auto y) { return x - y; });
  }
  friend Number operator*(Number a, Number b) {
    return Of(a, b, [](auto x, auto y) { return x * y; });
  }
  // REQUIRES: an integer divisor is not 0.
  friend Number operator/(Number a, Number b) {
    if constexpr (std::signed_integral<T>) {
      if (b.value_ == T(-1)) return -a;  // also of the smallest number
    }
    return a.value_ / b.value_;
  }
  friend Number operator-(Number x) {
    if constexpr (kIsInteger)
      return Number(0) - x;
    else
      return -x.value_;
  }
  friend Number operator&(Number a, Number b) { return a.value_ & b.value_; }
  friend Number operator|(Number a, Number b) { return a.value_ | b.value_; }
  friend Number operator^(Number a, Number b) { return a.value_ ^ b.value_; }
  friend Number operator~(Number x) { return ~x.value_; }

  friend bool operator==(Number a, Number b) { return a.value_ == b.value_; }
  friend bool operator!=(Number a, Number b) { return a.value_ != b.value_; }
  friend bool operator<(Number a, Number b) { return a.value_ < b.value_; }
  friend bool operator>(Number a, Number b) { return a.value_ > b.value_; }
  friend Number Select(bool condition, Number a, Number b) { return condition ? a : b; }
  friend Number NegMulAdd(Number a, Number b, Number c) { return c - a * b; }
  friend Number Square(Number x) { return x * x; }

  friend Number Sign(Number x) {
    if (x != x) return x;
    return (T(0) < x.value_) - (x.value_ < T(0));
  }
  friend Number Abs(Number x) {
    if (Sign(x) < 0) return -x;  // the smallest integer is its own absolute value
    return x == 0 ? Number(0) : x;
  }
  friend Number Max(Number a, Number b) { return b != b ? b : a < b ? b : a; }
  friend Number Min(Number a, Number b) { return b != b ? b : b < a ? b : a; }
  friend Number Truncate(Number x) {
    if constexpr (kIsInteger)
      return x;
    else
      return std::trunc(x.value_);
  }
  friend Number HalfToEven(Number x) {
    if constexpr (kIsInteger)
      return x;
    else
      return std::nearbyint(x.value_);  // half to even, the default rounding mode
  }
  // The rest has the sign of a.
  friend Number Remainder(Number a, Number b) {
    if constexpr (!kIsInteger) {
      return std::fmod(a.value_, b.value_);
    } else {
      if constexpr (std::signed_integral<T>) {
        if (b == -1) return 0;
      }
      return a.value_ % b.value_;
    }
  }
  friend Number FloorDiv(Number a, Number b) {
    if constexpr (!kIsInteger) {
      return std::floor(a.value_ / b.value_);
    } else {
      const Number rest = Remainder(a, b), quotient = a / b;
      return rest != 0 && (rest < 0) != (b < 0) ? quotient - 1 : quotient;
    }
  }
  // The rest has the sign of b.
  friend Number FloorMod(Number a, Number b) {
    const Number rest = Remainder(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  friend Number Pow(Number a, Number b) {
    if constexpr (!kIsInteger) {
      return std::pow(a.value_, b.value_);
    } else {
      Number power = 1;
      for (T n = b.value_; n > 0; n = static_cast<T>(n / 2), a = a * a) {
        if (n % 2 != 0) power = power * a;
      }
      return power;
    }
  }
  // A number of bits that is out of range is clamped to the range, as in TensorFlow.
  friend Number ShiftLeft(Number a, Number b) {
    return static_cast<uint64_t>(a.value_) << ClampedBits(b);
  }
  friend Number ShiftRight(Number a, Number b) { return a.value_ >> ClampedBits(b); }

#define EST_FUNCTION(name, function) \
  friend Number name(Number x) { return std::function(x.value_); }
  EST_FUNCTION(Floor, floor)
  EST_FUNCTION(Ceil, ceil)
  EST_FUNCTION(Sqrt, sqrt)
  EST_FUNCTION(Exp, exp)
  EST_FUNCTION(Expm1, expm1)
  EST_FUNCTION(Log, log)
  EST_FUNCTION(Log1p, log1p)
  EST_FUNCTION(Sin, sin)
  EST_FUNCTION(Cos, cos)
  EST_FUNCTION(Tan, tan)
  EST_FUNCTION(Erf, erf)
  EST_FUNCTION(Erfc, erfc)
  EST_FUNCTION(Asin, asin)
  EST_FUNCTION(Acos, acos)
  EST_FUNCTION(Atan, atan)
  EST_FUNCTION(Sinh, sinh)
  EST_FUNCTION(Cosh, cosh)
  EST_FUNCTION(Asinh, asinh)
  EST_FUNCTION(Acosh, acosh)
  EST_FUNCTION(Atanh, atanh)
  EST_FUNCTION(Tanh, tanh)
#undef EST_FUNCTION
  friend Number Atan2(Number y, Number x) { return std::atan2(y.value_, x.value_); }
  friend Number Rsqrt(Number x) { return 1 / Sqrt(x); }
  friend Number Sigmoid(Number x) { return 1 / (1 + Exp(-x)); }
  friend Number Infinity(Number) { return std::numeric_limits<T>::infinity(); }
  friend bool IsFinite(Number x) { return std::isfinite(x.value_); }
  // If exp(x) + 1 rounds to exp(x), softplus is x. If it rounds to 1, softplus is exp(x).
  friend Number Softplus(Number x) {
    const Number threshold = std::log(std::numeric_limits<T>::epsilon()) + T{2};
    if (x > -threshold) return x;
    return x < threshold ? Exp(x) : Log1p(Exp(x));
  }

  // The ops that passes/transformer makes of GELU (ops/activations.h) and its gradient. They
  // compute in double, because 1 + tanh(u) and 1 + erf(u) lose digits where they are near 0.
  friend Number Gelu(Number n) {
    const double x = n.value_;
    return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
  }
  friend Number GeluGrad(Number gradient, Number n) {
    const double x = n.value_;
    const double pdf = std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    return static_cast<double>(gradient.value_) *
           (0.5 * (1 + std::erf(x / std::numbers::sqrt2)) + x * pdf);
  }
  friend Number GeluApproximate(Number n) {
    const double x = n.value_;
    return 0.5 * x * (1 + std::tanh(GeluScale() * (x + kGeluCubic * x * x * x)));
  }
  friend Number GeluApproximateGrad(Number gradient, Number n) {
    const double x = n.value_;
    const double tanh = std::tanh(GeluScale() * (x + kGeluCubic * x * x * x));
    const double slope = GeluScale() * (1 + 3 * kGeluCubic * x * x);
    return static_cast<double>(gradient.value_) * 0.5 *
           ((1 + tanh) + x * (1 - tanh * tanh) * slope);
  }

 private:
  static constexpr double kGeluCubic = 0.044715;
  static double GeluScale() { return std::sqrt(2 * std::numbers::inv_pi); }

  // Integers are computed as unsigned numbers, whose overflow is defined.
  template <typename Fn>
  static Number Of(Number a, Number b, Fn fn) {
    if constexpr (kIsInteger)
      return fn(static_cast<uint64_t>(a.value_), static_cast<uint64_t>(b.value_));
    else
      return fn(a.value_, b.value_);
  }
  static T ClampedBits(Number b) {
    return std::clamp<T>(b.value_, 0, static_cast<T>(sizeof(T) * 8 - 1));
  }

  T value_;
};

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_REFERENCE_NUMBER_H_
