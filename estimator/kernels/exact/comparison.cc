// Comparisons and logic with broadcasting, on all threads.
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"
#include "estimator/kernels/strided_rows.h"

namespace estimator {
namespace {

// out[i] = x[i * x_stride] compared with y[i * y_stride]. Only this is compiled for each type.
using RowFn = void (*)(const void* x, int64_t x_stride, const void* y, int64_t y_stride,
                       int64_t count, bool* out);

// A stride is 0 or 1. Separate loops for the three cases can be vectorised.
template <typename T, typename Fn>
void CompareRow(const void* left, int64_t x_stride, const void* right, int64_t y_stride,
                int64_t count, bool* out) {
  using C = Compute<T>;
  constexpr Fn fn;
  const T* const x = static_cast<const T*>(left);
  const T* const y = static_cast<const T*>(right);
  // Strings have no vectors, and a copy of the repeated one would allocate.
  if constexpr (std::is_same_v<T, std::string>) {
    for (int64_t i = 0; i < count; ++i) out[i] = fn(x[i * x_stride], y[i * y_stride]);
  } else if (x_stride == 0) {
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

// compare(x, y) of inputs `left` and `right`. Returns null if `compare` is null.
KernelPlan CompareKernel(const KernelSpec& spec, RowFn compare, int left, int right) {
  const Shape& shape = spec.outputs[0].shape;
  const auto size = static_cast<int64_t>(spec.inputs[0].dtype == DType::kString
                                             ? sizeof(std::string)
                                             : DTypeSize(spec.inputs[0].dtype));
  const StridedRows<2> rows(
      shape, {BroadcastStrides(spec.inputs[static_cast<size_t>(left)].shape, shape),
              BroadcastStrides(spec.inputs[static_cast<size_t>(right)].shape, shape)});
  if (!rows.ok() || compare == nullptr) return nullptr;
  return MakeKernel([rows, compare, left, right, size](const KernelArgs& args) {
    rows.ForEach([&](int64_t i, const auto& at, int64_t count) {
      compare(args.in<char>(left) + at[0] * size, rows.strides()[0],
              args.in<char>(right) + at[1] * size, rows.strides()[1], count, args.out<bool>(0) + i);
    });
  });
}

template <typename Fn>
KernelFactory Comparison(int left = 0, int right = 1) {
  return [=](const KernelSpec& spec) {
    RowFn compare = nullptr;
    if (spec.inputs[0].dtype == DType::kString) compare = CompareRow<std::string, Fn>;
    VisitNumeric(spec.inputs[0].dtype, [&](auto tag) { compare = CompareRow<decltype(tag), Fn>; });
    return CompareKernel(spec, compare, left, right);
  };
}

template <typename Fn>
KernelPlan MakeLogic(const KernelSpec& spec) {
  return CompareKernel(spec, CompareRow<bool, Fn>, 0, 1);
}

KernelPlan MakeLogicalNot(const KernelSpec& spec) {
  const fused::Chunks chunks = fused::MakeChunks(spec.outputs[0].shape.num_elements());
  return MakeKernel(
      [chunks](const KernelArgs& args) {
        fused::ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
          const bool* const x = args.in<bool>(0);
          bool* const out = args.out<bool>(0);
#pragma omp simd
          for (int64_t i = begin; i < end; ++i) out[i] = !x[i];
        });
      },
      /*scratch_bytes=*/0, /*alias_input=*/0);
}

EST_REGISTER_EXACT_KERNEL("Equal", Comparison<std::equal_to<>>());
EST_REGISTER_EXACT_KERNEL("NotEqual", Comparison<std::not_equal_to<>>());
EST_REGISTER_EXACT_KERNEL("Less", Comparison<std::less<>>());
EST_REGISTER_EXACT_KERNEL("LessEqual", Comparison<std::less_equal<>>());
// The loops for all types take the compiler long, so these two take those with sides exchanged.
EST_REGISTER_EXACT_KERNEL("Greater", Comparison<std::less<>>(1, 0));
EST_REGISTER_EXACT_KERNEL("GreaterEqual", Comparison<std::less_equal<>>(1, 0));
// Bitwise, so that both operands are read and the loop has no branch.
EST_REGISTER_EXACT_KERNEL("LogicalAnd", MakeLogic<std::bit_and<>>);
EST_REGISTER_EXACT_KERNEL("LogicalOr", MakeLogic<std::bit_or<>>);

EST_REGISTER_EXACT_KERNEL("LogicalNot", MakeLogicalNot);

}  // namespace
}  // namespace estimator
