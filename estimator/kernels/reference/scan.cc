// Cumsum, Cumprod, MatrixBandPart, MatrixDiag, MatrixDiagPart, InvertPermutation.
#include <algorithm>
#include <functional>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/kernels/exact/copy_elements.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

// Integers wrap around: they are computed as unsigned numbers, whose overflow is defined.
template <typename T, typename Op>
T Combined(T a, T b, Op op) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(op(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  else
    return op(a, b);
}

//   first: the initial total.  combine(total, x): the next total.
template <typename Combine>
KernelFactory Scan(int first, Combine combine) {
  return [first, combine](const KernelSpec& spec) -> KernelPlan {
    const auto axes = ConstantInts(spec, 1);
    if (!axes.has_value()) return nullptr;
    const Shape& shape = spec.inputs[0].shape;
    const AxisExtents e = ExtentsAt(shape, WrapAxis((*axes)[0], shape.rank()));
    const bool exclusive = spec.attrs.b("exclusive"), reverse = spec.attrs.b("reverse");
    return VisitNumbers(spec.inputs[0].dtype, [&](auto tag) {
      using T = decltype(tag);
      return MakeKernel([=](const KernelArgs& args) {
        for (int64_t row = 0; row < e.outer * e.inner; ++row) {
          // The elements of a row are e.inner apart.
          const int64_t start = row / e.inner * e.size * e.inner + row % e.inner;
          const T* x = args.in<T>(0) + start;
          T* out = args.out<T>(0) + start;
          auto total = static_cast<Compute<T>>(first);
          for (int64_t k = 0; k < e.size; ++k) {
            const int64_t at = (reverse ? e.size - 1 - k : k) * e.inner;
            if (exclusive) out[at] = static_cast<T>(total);
            total = Combined(total, static_cast<Compute<T>>(x[at]), combine);
            if (!exclusive) out[at] = static_cast<T>(total);
          }
        }
      });
    });
  };
}

EST_REGISTER_KERNEL("Cumsum", KernelTier::kReference, Scan(0, std::plus<>()));
EST_REGISTER_KERNEL("Cumprod", KernelTier::kReference, Scan(1, std::multiplies<>()));

KernelPlan MakeMatrixBandPart(const KernelSpec& spec) {
  const auto lower = ConstantInts(spec, 1), upper = ConstantInts(spec, 2);
  if (!lower.has_value() || !upper.has_value()) return nullptr;
  const Shape& shape = spec.inputs[0].shape;
  const int64_t rows = shape.dim(-2), columns = shape.dim(-1), n = shape.num_elements();
  const int64_t num_lower = (*lower)[0], num_upper = (*upper)[0];
  return VisitElement(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    return MakeKernel([=](const KernelArgs& args) {
      for (int64_t i = 0; i < n; ++i) {
        const int64_t row = i / columns % rows, column = i % columns;
        const bool in = (num_lower < 0 || row - column <= num_lower) &&
                        (num_upper < 0 || column - row <= num_upper);
        args.out<T>(0)[i] = in ? args.in<T>(0)[i] : T{};
      }
    });
  });
}

EST_REGISTER_KERNEL("MatrixBandPart", KernelTier::kReference, MakeMatrixBandPart);

// kToMatrix: [..., N] to the diagonal of [..., N, N]. Otherwise the diagonal of [..., M, N].
template <bool kToMatrix>
KernelPlan MakeDiagonal(const KernelSpec& spec) {
  const Shape& matrix = kToMatrix ? spec.outputs[0].shape : spec.inputs[0].shape;
  const int64_t rows = matrix.dim(-2), columns = matrix.dim(-1), size = std::min(rows, columns);
  int64_t matrices = 1;
  for (int i = 0; i + 2 < matrix.rank(); ++i) matrices *= matrix.dim(i);
  return VisitElement(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    return MakeKernel([=](const KernelArgs& args) {
      const T* x = args.in<T>(0);
      T* out = args.out<T>(0);
      if (kToMatrix) std::fill_n(out, matrices * rows * columns, T{});
      for (int64_t m = 0; m < matrices; ++m) {
        for (int64_t i = 0; i < size; ++i) {
          const int64_t in_matrix = (m * rows + i) * columns + i, in_diagonal = m * size + i;
          out[kToMatrix ? in_matrix : in_diagonal] = x[kToMatrix ? in_diagonal : in_matrix];
        }
      }
    });
  });
}

EST_REGISTER_KERNEL("MatrixDiag", KernelTier::kReference, MakeDiagonal<true>);
EST_REGISTER_KERNEL("MatrixDiagPart", KernelTier::kReference, MakeDiagonal<false>);

template <typename T>
KernelPlan MakeInvertPermutation(int64_t n) {
  return MakeKernel([n](const KernelArgs& args) {
    const T* x = args.in<T>(0);
    T* out = args.out<T>(0);
    // -1 marks places without a number, so that one that occurs twice is found without other
    // memory.
    std::fill_n(out, n, T{-1});
    for (int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<int64_t>(x[i]);
      if (at < 0 || at >= n || out[at] != T{-1}) {
        return InvalidArgument(
            "not a permutation: element ", i, " is ", at,
            at < 0 || at >= n ? absl::StrCat(", not in [0, ", n, ")") : ", which occurs twice");
      }
      out[at] = static_cast<T>(i);
    }
    return absl::OkStatus();
  });
}

KernelPlan MakePermutationInverse(const KernelSpec& spec) {
  const int64_t n = spec.inputs[0].shape.num_elements();
  if (spec.inputs[0].dtype == DType::kInt64) return MakeInvertPermutation<int64_t>(n);
  return MakeInvertPermutation<int32_t>(n);
}

EST_REGISTER_KERNEL("InvertPermutation", KernelTier::kReference, MakePermutationInverse);

}  // namespace
}  // namespace estimator
