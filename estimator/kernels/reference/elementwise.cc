// The reference kernels of the ops of op_def/elementwise_table.h. 16-bit floats are computed in
// float32.
#include <concepts>
#include <cstdint>

#include "absl/status/status.h"
#include "estimator/base/status.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/position.h"
#include "estimator/kernels/reference/loops.h"
#include "estimator/kernels/reference/number.h"
#include "estimator/kernels/strided_rows.h"
#include "estimator/op_def/elementwise_flags.h"

namespace estimator {
namespace {

using enum ElementwiseTakes;

// out[k] = x[k * x_stride] op y[k * y_stride], where an op of one operand ignores y. Nothing else
// is compiled for each op and type, because there are three hundred of them.
using LoopFn = void (*)(const void* x, int64_t x_stride, const void* y, int64_t y_stride, void* out,
                        int64_t n, float alpha);
// Checks the integers of the second operand.
using CheckFn = absl::Status (*)(const void* second, int64_t n, const StepContext& step);

struct Loops {
  LoopFn loop = nullptr;  // null: the op does not take the dtype
  CheckFn check = nullptr;
};

template <typename Formula, typename T, typename Result>
void ElementLoop(const void* x, int64_t x_stride, const void* y, int64_t y_stride, void* out,
                 int64_t n, float alpha) {
  using C = Compute<T>;
  const T* const a = static_cast<const T*>(x);
  const T* const b = static_cast<const T*>(y);
  Result* const result = static_cast<Result*>(out);
  for (int64_t k = 0; k < n; ++k) {
    const Number<C> first = static_cast<C>(a[k * x_stride]),
                    second = static_cast<C>(b[k * y_stride]);
    const auto value = Formula::Of(first, second, Number<C>(alpha));
    if constexpr (std::is_same_v<Result, bool>)
      result[k] = value;
    else
      result[k] = static_cast<T>(value.value());
  }
}

template <typename T>
absl::Status CheckDivisor(const void* second, int64_t n, const StepContext& step) {
  const T* const y = static_cast<const T*>(second);
  for (int64_t i = 0; i < n; ++i) {
    if (y[i] != 0) continue;
    return InvalidArgument("integer division by zero: ", PositionText("element ", i, n, step),
                           " of the divisor is 0");
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status CheckExponent(const void* second, int64_t n, const StepContext& step) {
  const T* const y = static_cast<const T*>(second);
  for (int64_t i = 0; i < n; ++i) {
    if (y[i] >= 0) continue;
    return InvalidArgument("integers to negative integer powers are not allowed: ",
                           PositionText("exponent ", i, n, step), " is ",
                           static_cast<int64_t>(y[i]));
  }
  return absl::OkStatus();
}

template <typename Formula>
Loops LoopsOf(DType dtype) {
  Loops loops;
  VisitNumeric(dtype, [&loops](auto tag) {
    using T = decltype(tag);
    constexpr bool kTaken = kIsFloatingType<T> ? Formula::kTakes != kIntegers
                                               : kIsNumberType<T> && Formula::kTakes != kFloating;
    if constexpr (kTaken) {
      using Result = std::conditional_t<Formula::kIsPredicate, bool, T>;
      loops.loop = ElementLoop<Formula, T, Result>;
      if constexpr (!kIsFloatingType<T>) {
        if ((Formula::kFlags & kDivides) != 0) loops.check = CheckDivisor<T>;
        if ((Formula::kFlags & kPowers) != 0 && std::signed_integral<T>)
          loops.check = CheckExponent<T>;
      }
    }
  });
  return loops;
}

KernelPlan MakeElementwise(const KernelSpec& spec, const Loops& loops) {
  if (loops.loop == nullptr) return nullptr;
  const TensorSpec &x = spec.inputs[0], &out = spec.outputs[0];
  const size_t second = spec.inputs.size() - 1;  // of an op of one operand: the first one again
  const TensorSpec& y = spec.inputs[second];
  const StridedRows<2> rows(
      out.shape, {BroadcastStrides(x.shape, out.shape), BroadcastStrides(y.shape, out.shape)});
  if (!rows.ok()) return nullptr;
  const float alpha = spec.attrs.has("alpha") ? spec.attrs.f("alpha") : 0;
  const auto size = static_cast<int64_t>(DTypeSize(x.dtype));
  const auto out_size = static_cast<int64_t>(DTypeSize(out.dtype));
  return MakeKernel(
      [=, num_second = y.shape.num_elements()](const KernelArgs& args) {
        // All of the operand is checked first: nothing is written if the op fails.
        if (loops.check != nullptr) {
          EST_RETURN_IF_ERROR(loops.check(args.inputs[second], num_second, args.step));
        }
        const char *const a = args.in<char>(0), *const b = args.in<char>(static_cast<int>(second));
        char* const to = args.out<char>(0);
        const auto& strides = rows.strides();
        rows.ForEachInOrder([&](int64_t i, const auto& at, int64_t n) {
          loops.loop(a + at[0] * size, strides[0], b + at[1] * size, strides[1], to + i * out_size,
                     n, alpha);
        });
        return absl::OkStatus();
      },
      /*scratch_bytes=*/0, /*alias_input=*/x.shape == out.shape && size == out_size ? 0 : -1);
}

#define EST_KERNEL(name, x, y, takes, flags, predicate, ...)                               \
  struct Of##name {                                                                        \
    static constexpr ElementwiseTakes kTakes = takes;                                      \
    static constexpr int kFlags = flags;                                                   \
    static constexpr bool kIsPredicate = predicate;                                        \
    template <typename N>                                                                  \
    static auto Of([[maybe_unused]] N x, [[maybe_unused]] N y, [[maybe_unused]] N alpha) { \
      return __VA_ARGS__;                                                                  \
    }                                                                                      \
  };                                                                                       \
  EST_REGISTER_KERNEL(#name, KernelTier::kReference, [](const KernelSpec& spec) {          \
    return MakeElementwise(spec, LoopsOf<Of##name>(spec.inputs[0].dtype));                 \
  });
#define EST_UNARY(name, x, takes, tiles, flags, ...) \
  EST_KERNEL(name, x, second, takes, flags, false, __VA_ARGS__)
#define EST_BINARY(name, x, y, takes, tiles, flags, ...) \
  EST_KERNEL(name, x, y, takes, flags, false, __VA_ARGS__)
#define EST_PREDICATE(name, x, ...) EST_KERNEL(name, x, second, kFloating, 0, true, __VA_ARGS__)
#define EST_FUSED_UNARY EST_UNARY
#define EST_FUSED_BINARY EST_BINARY
#include "estimator/op_def/elementwise_table.h"
#undef EST_KERNEL

}  // namespace
}  // namespace estimator
