// Functions of one element, and Cast. 16-bit floats are computed in float32.
#include <cmath>
#include <concepts>
#include <limits>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

enum class Takes { kFloating, kNumbers };

// out[i] = fn(x[i]). Result is the type of the output: T, or bool for predicates.
template <typename T, typename Result, typename Fn>
std::unique_ptr<Kernel> MakeTyped(const KernelSpec& spec, Fn fn) {
  const int64_t n = spec.outputs[0].shape.num_elements();
  const int alias = sizeof(T) == sizeof(Result) ? 0 : -1;
  return MakeKernel(
      [n, fn](const KernelArgs& args) {
        const T* x = args.in<T>(0);
        Result* out = args.out<Result>(0);
        for (int64_t i = 0; i < n; ++i) {
          out[i] = static_cast<Result>(fn(static_cast<Compute<T>>(x[i])));
        }
        return absl::OkStatus();
      },
      0, alias);
}

template <Takes kTakes, typename Fn>
KernelFactory Unary(Fn fn) {
  return [fn](const KernelSpec& spec) {
    std::unique_ptr<Kernel> kernel;
    VisitNumeric(spec.inputs[0].dtype, [&](auto tag) {
      using T = decltype(tag);
      if constexpr (kIsFloatingType<T> || (kTakes == Takes::kNumbers && kIsNumberType<T>)) {
        kernel = MakeTyped<T, T>(spec, fn);
      }
    });
    return kernel;
  };
}

template <typename Fn>
KernelFactory Predicate(Fn fn) {
  return [fn](const KernelSpec& spec) {
    std::unique_ptr<Kernel> kernel;
    VisitNumeric(spec.inputs[0].dtype, [&](auto tag) {
      using T = decltype(tag);
      if constexpr (kIsFloatingType<T>) kernel = MakeTyped<T, bool>(spec, fn);
    });
    return kernel;
  };
}

#define EST_UNARY(op, takes, expression)          \
  EST_REGISTER_KERNEL(op, KernelTier::kReference, \
                      Unary<Takes::takes>([](auto x) { return expression; }))
#define EST_PREDICATE(op, expression) \
  EST_REGISTER_KERNEL(op, KernelTier::kReference, Predicate([](auto x) { return expression; }))

// The smallest integer is its own absolute value: integers wrap around.
template <typename T>
T Negative(T x) {
  if constexpr (std::integral<T>)
    return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
  else
    return -x;
}
template <typename T>
T Signum(T x) {
  if constexpr (!std::integral<T>) {
    if (std::isnan(x)) return x;
  }
  return static_cast<T>((T(0) < x) - (x < T(0)));
}
template <typename T>
T HalfToEven(T x) {
  if constexpr (std::integral<T>)
    return x;
  else
    return std::nearbyint(x);  // half to even, the default rounding mode
}
template <typename T>
T Squared(T x) {
  if constexpr (std::integral<T>)
    return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(x));
  else
    return x * x;
}

EST_UNARY("Neg", kNumbers, Negative(x));
EST_UNARY("Abs", kNumbers, Signum(x) < 0 ? Negative(x) : (x == 0 ? decltype(x)(0) : x));
EST_UNARY("Sign", kNumbers, Signum(x));
EST_UNARY("Square", kNumbers, Squared(x));
EST_UNARY("Round", kNumbers, HalfToEven(x));
EST_UNARY("Sqrt", kFloating, std::sqrt(x));
EST_UNARY("Rsqrt", kFloating, decltype(x)(1) / std::sqrt(x));
EST_UNARY("Exp", kFloating, std::exp(x));
EST_UNARY("Expm1", kFloating, std::expm1(x));
EST_UNARY("Log", kFloating, std::log(x));
EST_UNARY("Log1p", kFloating, std::log1p(x));
EST_UNARY("Sin", kFloating, std::sin(x));
EST_UNARY("Cos", kFloating, std::cos(x));
EST_UNARY("Tan", kFloating, std::tan(x));
EST_UNARY("Erf", kFloating, std::erf(x));
EST_UNARY("Erfc", kFloating, std::erfc(x));
EST_UNARY("Asin", kFloating, std::asin(x));
EST_UNARY("Acos", kFloating, std::acos(x));
EST_UNARY("Atan", kFloating, std::atan(x));
EST_UNARY("Sinh", kFloating, std::sinh(x));
EST_UNARY("Cosh", kFloating, std::cosh(x));
EST_UNARY("Asinh", kFloating, std::asinh(x));
EST_UNARY("Acosh", kFloating, std::acosh(x));
EST_UNARY("Atanh", kFloating, std::atanh(x));
EST_UNARY("Rint", kFloating, std::nearbyint(x));
EST_UNARY("Floor", kFloating, std::floor(x));
EST_UNARY("Ceil", kFloating, std::ceil(x));
EST_UNARY("Reciprocal", kFloating, decltype(x)(1) / x);
EST_PREDICATE("IsNan", std::isnan(x));
EST_PREDICATE("IsInf", std::isinf(x));
EST_PREDICATE("IsFinite", std::isfinite(x));

#undef EST_UNARY
#undef EST_PREDICATE

EST_REGISTER_KERNEL("Invert", KernelTier::kReference, [](const KernelSpec& spec) {
  std::unique_ptr<Kernel> kernel;
  VisitNumeric(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::integral<T> && kIsNumberType<T>)
      kernel = MakeTyped<T, T>(spec, [](T x) { return static_cast<T>(~x); });
  });
  return kernel;
});

// Floating to integer truncates. NaN, and numbers that the integer cannot hold, become its smallest
// number, as in the x86 conversion. (C++ leaves both undefined.)
template <typename To, typename From>
To Convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::integral<To> && std::floating_point<From>) {
    using Wide = std::conditional_t<sizeof(To) < 8, int64_t, To>;
    constexpr double kLimit = 9223372036854775808.0;  // 2^63
    const auto wide = static_cast<double>(x);
    if (!(wide >= -kLimit && wide < kLimit)) return std::numeric_limits<To>::min();
    if constexpr (sizeof(To) == 4) {
      if (!(wide > -2147483649.0 && wide < 2147483648.0)) return std::numeric_limits<To>::min();
    }
    return static_cast<To>(static_cast<Wide>(x));
  } else {
    return static_cast<To>(x);
  }
}

EST_REGISTER_KERNEL("Cast", KernelTier::kReference, [](const KernelSpec& spec) {
  std::unique_ptr<Kernel> kernel;
  const int64_t n = spec.outputs[0].shape.num_elements();
  VisitNumeric(spec.inputs[0].dtype, [&](auto from) {
    using From = decltype(from);
    VisitNumeric(spec.outputs[0].dtype, [&](auto to) {
      using To = decltype(to);
      kernel = MakeKernel([n](const KernelArgs& args) {
        const From* x = args.in<From>(0);
        To* out = args.out<To>(0);
        for (int64_t i = 0; i < n; ++i) {
          out[i] = static_cast<To>(Convert<Compute<To>>(static_cast<Compute<From>>(x[i])));
        }
        return absl::OkStatus();
      });
    });
  });
  return kernel;
});

}  // namespace
}  // namespace estimator
