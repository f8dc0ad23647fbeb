// Comparisons and logic with broadcasting, on all threads. Strings are left to the reference tier.
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/strided_rows.h"
#include "estimator/kernels/kernel.h"

namespace estimator::fused {
namespace {

// 16-bit floats are compared as float32.
template <typename T>
using Compared =
    std::conditional_t<std::is_same_v<T, Bfloat16> || std::is_same_v<T, Float16>, float, T>;

// A stride is 0 or 1. Separate loops for the three cases can be vectorised.
template <typename T, typename Fn>
void CompareRow(Fn fn, const T* x, int64_t x_stride, const T* y, int64_t y_stride, int64_t count,
                bool* out) {
  using C = Compared<T>;
  if (x_stride == 0) {
    const C value = static_cast<C>(*x);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) out[i] = fn(value, static_cast<C>(y[i * y_stride]));
  } else if (y_stride == 0) {
    const C value = static_cast<C>(*y);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) out[i] = fn(static_cast<C>(x[i]), value);
  } else {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) out[i] = fn(static_cast<C>(x[i]), static_cast<C>(y[i]));
  }
}

template <typename T, typename Fn>
std::unique_ptr<Kernel> MakeTyped(const KernelSpec& spec, Fn fn) {
  const Shape& shape = spec.outputs[0].shape;
  const StridedRows<2> rows(shape, {StridesAlong(spec.inputs[0].shape, shape),
                                    StridesAlong(spec.inputs[1].shape, shape)});
  if (!rows.ok()) return nullptr;
  return MakeFusedKernel([rows, fn](const KernelArgs& args) {
    rows.ForEach([&](int64_t i, const auto& at, int64_t count) {
      CompareRow(fn, args.in<T>(0) + at[0], rows.strides()[0], args.in<T>(1) + at[1],
                 rows.strides()[1], count, args.out<bool>(0) + i);
    });
    return absl::OkStatus();
  });
}

template <typename Fn>
KernelFactory Comparison(Fn fn) {
  return [fn](const KernelSpec& spec) {
    std::unique_ptr<Kernel> kernel;
    VisitNumeric(spec.inputs[0].dtype,
                 [&](auto tag) { kernel = MakeTyped<decltype(tag)>(spec, fn); });
    return kernel;
  };
}

template <typename Fn>
KernelFactory Logic(Fn fn) {
  return [fn](const KernelSpec& spec) { return MakeTyped<bool>(spec, fn); };
}

std::unique_ptr<Kernel> MakeLogicalNot(const KernelSpec& spec) {
  const Chunks chunks = MakeChunks(spec.outputs[0].shape.num_elements());
  return MakeFusedKernel(
      [chunks](const KernelArgs& args) {
        ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
          const bool* const x = args.in<bool>(0);
          bool* const out = args.out<bool>(0);
#pragma omp simd
          for (int64_t i = begin; i < end; ++i) out[i] = !x[i];
        });
        return absl::OkStatus();
      },
      {.scratch_bytes = 0, .alias_input = 0});
}

EST_REGISTER_KERNEL("Equal", KernelTier::kFused, Comparison(std::equal_to<>()));
EST_REGISTER_KERNEL("NotEqual", KernelTier::kFused, Comparison(std::not_equal_to<>()));
EST_REGISTER_KERNEL("Less", KernelTier::kFused, Comparison(std::less<>()));
EST_REGISTER_KERNEL("LessEqual", KernelTier::kFused, Comparison(std::less_equal<>()));
EST_REGISTER_KERNEL("Greater", KernelTier::kFused, Comparison(std::greater<>()));
EST_REGISTER_KERNEL("GreaterEqual", KernelTier::kFused, Comparison(std::greater_equal<>()));
// Bitwise, so that both operands are read and the loop has no branch.
EST_REGISTER_KERNEL("LogicalAnd", KernelTier::kFused,
                    Logic([](bool a, bool b) { return static_cast<bool>(a & b); }));
EST_REGISTER_KERNEL("LogicalOr", KernelTier::kFused,
                    Logic([](bool a, bool b) { return static_cast<bool>(a | b); }));

EST_REGISTER_KERNEL("LogicalNot", KernelTier::kFused, MakeLogicalNot);

}  // namespace
}  // namespace estimator::fused
