// Arithmetic on two operands with broadcasting, and AddN.
// Integers wrap around, as two's complement does. 16-bit floats are computed in float32.
#include <algorithm>
#include <cmath>
#include <concepts>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

// Integers are computed as unsigned numbers, whose overflow is defined.
template <std::integral T, typename Fn>
T Wrapping(T a, T b, Fn fn) {
  return static_cast<T>(fn(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
}

struct AddOp {
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (std::integral<T>)
      return Wrapping(a, b, [](auto x, auto y) { return x + y; });
    else
      return a + b;
  }
};
struct SubOp {
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (std::integral<T>)
      return Wrapping(a, b, [](auto x, auto y) { return x - y; });
    else
      return a - b;
  }
};
struct MulOp {
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (std::integral<T>)
      return Wrapping(a, b, [](auto x, auto y) { return x * y; });
    else
      return a * b;
  }
};
struct RealDivOp {
  static constexpr bool kFloatingOnly = true;
  template <typename T>
  static T Of(T a, T b) {
    return a / b;
  }
};
struct DivNoNanOp {
  static constexpr bool kFloatingOnly = true;
  template <typename T>
  static T Of(T a, T b) {
    return b == T(0) ? T(0) : a / b;
  }
};
struct DivOp {
  static constexpr bool kIntegerDivisor = true;
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (std::signed_integral<T>) {
      if (b == T(-1)) return SubOp::Of(T(0), a);  // -a, also for the smallest number
    }
    return static_cast<T>(a / b);
  }
};
struct FloorDivOp {
  static constexpr bool kIntegerDivisor = true;
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (std::integral<T>) {
      const T quotient = DivOp::Of(a, b);
      if constexpr (std::signed_integral<T>) {
        if (b != T(-1) && a % b != 0 && ((a < 0) != (b < 0))) return static_cast<T>(quotient - 1);
      }
      return quotient;
    } else {
      return std::floor(a / b);
    }
  }
};
struct FloorModOp {
  static constexpr bool kIntegerDivisor = true;
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (std::integral<T>) {
      if constexpr (std::signed_integral<T>) {
        if (b == T(-1)) return T(0);
      }
      const T rest = static_cast<T>(a % b);
      return rest != 0 && ((rest < 0) != (b < 0)) ? static_cast<T>(rest + b) : rest;
    } else {
      const T rest = std::fmod(a, b);
      return rest != T(0) && ((rest < T(0)) != (b < T(0))) ? rest + b : rest;
    }
  }
};
struct MaximumOp {
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (!std::integral<T>) {
      if (std::isnan(b)) return b;
    }
    return a < b ? b : a;
  }
};
struct MinimumOp {
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (!std::integral<T>) {
      if (std::isnan(b)) return b;
    }
    return b < a ? b : a;
  }
};
struct PowOp {
  static constexpr bool kNaturalExponent = true;
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (std::integral<T>) {
      T power = 1;
      for (T base = a; b > 0; b = static_cast<T>(b / 2), base = MulOp::Of(base, base)) {
        if (b % 2 != 0) power = MulOp::Of(power, base);
      }
      return power;
    } else {
      return std::pow(a, b);
    }
  }
};
struct SquaredDifferenceOp {
  template <typename T>
  static T Of(T a, T b) {
    const T difference = SubOp::Of(a, b);
    return MulOp::Of(difference, difference);
  }
};
struct Atan2Op {
  static constexpr bool kFloatingOnly = true;
  template <typename T>
  static T Of(T a, T b) {
    return std::atan2(a, b);
  }
};

struct XdivyOp {
  static constexpr bool kFloatingOnly = true;
  template <typename T>
  static T Of(T a, T b) {
    return a == T(0) ? T(0) : a / b;
  }
};
struct XlogyOp {
  static constexpr bool kFloatingOnly = true;
  template <typename T>
  static T Of(T a, T b) {
    return a == T(0) ? T(0) : a * std::log(b);
  }
};
struct TruncateDivOp {
  static constexpr bool kIntegerDivisor = true;
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (std::integral<T>)
      return DivOp::Of(a, b);
    else
      return std::trunc(a / b);
  }
};
struct TruncateModOp {
  static constexpr bool kIntegerDivisor = true;
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (std::integral<T>) {
      if constexpr (std::signed_integral<T>) {
        if (b == T(-1)) return T(0);
      }
      return static_cast<T>(a % b);
    } else {
      return std::fmod(a, b);
    }
  }
};
struct BitwiseAndOp {
  static constexpr bool kIntegersOnly = true;
  template <typename T>
  static T Of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitwiseOrOp {
  static constexpr bool kIntegersOnly = true;
  template <typename T>
  static T Of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitwiseXorOp {
  static constexpr bool kIntegersOnly = true;
  template <typename T>
  static T Of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
// A shift by a number of bits that is out of range is clamped to the range, as in TensorFlow.
template <typename T>
T ShiftBy(T b) {
  constexpr T kMost = static_cast<T>(sizeof(T) * 8 - 1);
  return std::clamp<T>(b, 0, kMost);
}
struct LeftShiftOp {
  static constexpr bool kIntegersOnly = true;
  template <typename T>
  static T Of(T a, T b) {
    return static_cast<T>(static_cast<uint64_t>(a) << ShiftBy(b));
  }
};
struct RightShiftOp {
  static constexpr bool kIntegersOnly = true;
  template <typename T>
  static T Of(T a, T b) {
    return static_cast<T>(a >> ShiftBy(b));
  }
};

// Checks an integer second operand for values that are not allowed.
template <typename Op, typename T>
absl::Status CheckSecond(const void* second, int64_t n) {
  const T* y = static_cast<const T*>(second);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (requires { Op::kIntegerDivisor; }) {
      if (y[i] == 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("integer division by zero: element ", i, " of the divisor is 0"));
      }
    } else if (y[i] < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("integers to negative integer powers are not allowed: exponent ", i, " is ",
                       static_cast<int64_t>(y[i])));
    }
  }
  return absl::OkStatus();
}

// out[k] = x[k * x_stride] op y[k * y_stride]. Nothing else is compiled for each op and type,
// because there are two hundred of them.
template <typename Op, typename T>
void Row(const void* x, int64_t x_stride, const void* y, int64_t y_stride, void* out, int64_t n) {
  const T* a = static_cast<const T*>(x);
  const T* b = static_cast<const T*>(y);
  T* result = static_cast<T*>(out);
  for (int64_t k = 0; k < n; ++k) {
    result[k] = static_cast<T>(
        Op::Of(static_cast<Compute<T>>(a[k * x_stride]), static_cast<Compute<T>>(b[k * y_stride])));
  }
}

using RowFn = void (*)(const void*, int64_t, const void*, int64_t, void*, int64_t);
using CheckFn = absl::Status (*)(const void*, int64_t);

//   check: a check of the second operand, or null.
std::unique_ptr<Kernel> MakeRows(const KernelSpec& spec, RowFn row, CheckFn check) {
  const Shape& out_shape = spec.outputs[0].shape;
  const StridedWalk<2> walk(out_shape, {BroadcastStrides(spec.inputs[0].shape, out_shape),
                                        BroadcastStrides(spec.inputs[1].shape, out_shape)});
  if (!walk.ok()) return nullptr;
  const int64_t num_second = spec.inputs[1].shape.num_elements();
  const auto size = static_cast<int64_t>(DTypeSize(spec.inputs[0].dtype));
  return MakeKernel([walk, num_second, size, row, check](const KernelArgs& args) {
    if (check != nullptr) {
      if (absl::Status status = check(args.inputs[1], num_second); !status.ok()) return status;
    }
    const char* x = args.in<char>(0);
    const char* y = args.in<char>(1);
    char* out = args.out<char>(0);
    walk.ForEachRow([&](int64_t i, const auto& at, const auto& strides, int64_t n) {
      row(x + at[0] * size, strides[0], y + at[1] * size, strides[1], out + i * size, n);
    });
    return absl::OkStatus();
  });
}

template <typename Op>
std::unique_ptr<Kernel> MakeBinary(const KernelSpec& spec) {
  RowFn row = nullptr;
  CheckFn check = nullptr;
  VisitNumeric(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (kIsFloatingType<T>) {
      if constexpr (!requires { Op::kIntegersOnly; }) row = Row<Op, T>;
    } else if constexpr (kIsNumberType<T> && !requires { Op::kFloatingOnly; }) {
      row = Row<Op, T>;
      constexpr bool kSigned = std::signed_integral<T>;
      if constexpr (requires { Op::kIntegerDivisor; }) check = CheckSecond<Op, T>;
      if constexpr (kSigned && requires { Op::kNaturalExponent; }) check = CheckSecond<Op, T>;
    }
  });
  return row == nullptr ? nullptr : MakeRows(spec, row, check);
}

EST_REGISTER_KERNEL("AddV2", KernelTier::kReference, MakeBinary<AddOp>);
EST_REGISTER_KERNEL("Sub", KernelTier::kReference, MakeBinary<SubOp>);
EST_REGISTER_KERNEL("Mul", KernelTier::kReference, MakeBinary<MulOp>);
EST_REGISTER_KERNEL("RealDiv", KernelTier::kReference, MakeBinary<RealDivOp>);
EST_REGISTER_KERNEL("DivNoNan", KernelTier::kReference, MakeBinary<DivNoNanOp>);
EST_REGISTER_KERNEL("Div", KernelTier::kReference, MakeBinary<DivOp>);
EST_REGISTER_KERNEL("FloorDiv", KernelTier::kReference, MakeBinary<FloorDivOp>);
EST_REGISTER_KERNEL("FloorMod", KernelTier::kReference, MakeBinary<FloorModOp>);
EST_REGISTER_KERNEL("Maximum", KernelTier::kReference, MakeBinary<MaximumOp>);
EST_REGISTER_KERNEL("Minimum", KernelTier::kReference, MakeBinary<MinimumOp>);
EST_REGISTER_KERNEL("Pow", KernelTier::kReference, MakeBinary<PowOp>);
EST_REGISTER_KERNEL("SquaredDifference", KernelTier::kReference, MakeBinary<SquaredDifferenceOp>);
EST_REGISTER_KERNEL("Atan2", KernelTier::kReference, MakeBinary<Atan2Op>);

EST_REGISTER_KERNEL("Xdivy", KernelTier::kReference, MakeBinary<XdivyOp>);
EST_REGISTER_KERNEL("Xlogy", KernelTier::kReference, MakeBinary<XlogyOp>);
EST_REGISTER_KERNEL("TruncateDiv", KernelTier::kReference, MakeBinary<TruncateDivOp>);
EST_REGISTER_KERNEL("TruncateMod", KernelTier::kReference, MakeBinary<TruncateModOp>);
EST_REGISTER_KERNEL("BitwiseAnd", KernelTier::kReference, MakeBinary<BitwiseAndOp>);
EST_REGISTER_KERNEL("BitwiseOr", KernelTier::kReference, MakeBinary<BitwiseOrOp>);
EST_REGISTER_KERNEL("BitwiseXor", KernelTier::kReference, MakeBinary<BitwiseXorOp>);
EST_REGISTER_KERNEL("LeftShift", KernelTier::kReference, MakeBinary<LeftShiftOp>);
EST_REGISTER_KERNEL("RightShift", KernelTier::kReference, MakeBinary<RightShiftOp>);

// Adds the inputs one after the other.
template <typename T>
void AddAll(absl::Span<const void* const> inputs, void* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    auto sum = static_cast<Compute<T>>(static_cast<const T*>(inputs[0])[i]);
    for (const void* input : inputs.subspan(1))
      sum = AddOp::Of(sum, static_cast<Compute<T>>(static_cast<const T*>(input)[i]));
    static_cast<T*>(out)[i] = static_cast<T>(sum);
  }
}

EST_REGISTER_KERNEL("AddN", KernelTier::kReference,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      void (*add)(absl::Span<const void* const>, void*, int64_t) = nullptr;
                      VisitNumeric(spec.outputs[0].dtype, [&add](auto tag) {
                        using T = decltype(tag);
                        if constexpr (kIsNumberType<T>) add = AddAll<T>;
                      });
                      if (add == nullptr) return nullptr;
                      const int64_t n = spec.outputs[0].shape.num_elements();
                      return MakeKernel([n, add](const KernelArgs& args) {
                        add(args.inputs, args.outputs[0], n);
                        return absl::OkStatus();
                      });
                    });

}  // namespace
}  // namespace estimator
