// MatMul and BatchMatMulV2 as plain loops: out[i,j] = sum_k a[i,k] * b[k,j], with k ascending.
//
// Four rows of a are computed at a time, so that b is read once for all four. The inner loop runs
// along a row of b, which the compiler vectorises.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/accumulate.h"

namespace estimator {
namespace {

constexpr int64_t kRows = 4;

struct Sizes {
  int64_t m = 0;  // the number of rows of the result
  int64_t k = 0;
  int64_t n = 0;
  bool transpose_a = false;  // a is stored [k, m]
  bool transpose_b = false;  // b is stored [n, k]
};

template <typename Acc>
size_t ScratchBytes(const Sizes& s) {
  return static_cast<size_t>(kRows * (s.k + s.n)) * sizeof(Acc);
}

template <typename T, typename Acc = Accumulator<T>>
void MultiplyOne(const Sizes& s, const T* a, const T* b, T* out, void* scratch) {
  Acc* const a_rows = static_cast<Acc*>(scratch);  // [kRows, k]
  Acc* const sums = a_rows + kRows * s.k;          // [kRows, n]
  for (int64_t i0 = 0; i0 < s.m; i0 += kRows) {
    const int64_t rows = std::min(kRows, s.m - i0);
    // The rows of a are converted to Acc once, and stored contiguously even if a is transposed.
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t k = 0; k < s.k; ++k) {
        a_rows[r * s.k + k] =
            static_cast<Acc>(s.transpose_a ? a[k * s.m + i0 + r] : a[(i0 + r) * s.k + k]);
      }
    }
    std::fill(sums, sums + kRows * s.n, Acc{0});
    if (s.transpose_b) {
      for (int64_t j = 0; j < s.n; ++j) {
        const T* const b_row = b + j * s.k;
        for (int64_t r = 0; r < rows; ++r) {
          const Acc* const a_row = a_rows + r * s.k;
          Acc sum = 0;
#pragma omp simd reduction(+ : sum)
          for (int64_t k = 0; k < s.k; ++k) sum += a_row[k] * static_cast<Acc>(b_row[k]);
          sums[r * s.n + j] = sum;
        }
      }
    } else {
      for (int64_t k = 0; k < s.k; ++k) {
        const T* const b_row = b + k * s.n;
        for (int64_t r = 0; r < rows; ++r) {
          const Acc factor = a_rows[r * s.k + k];
          Acc* const sum = sums + r * s.n;
          for (int64_t j = 0; j < s.n; ++j) sum[j] += factor * static_cast<Acc>(b_row[j]);
        }
      }
    }
    for (int64_t e = 0; e < rows * s.n; ++e) out[i0 * s.n + e] = static_cast<T>(sums[e]);
  }
}

// Calls fn(T{}) for the dtypes that MatMul takes.
template <typename Fn>
std::unique_ptr<Kernel> VisitMatMul(DType dtype, Fn&& fn) {
  if (dtype == DType::kInt32) return fn(int32_t{});
  if (dtype == DType::kInt64) return fn(int64_t{});
  return VisitFloating(dtype, fn);
}

Sizes SizesOf(const Shape& a, const Shape& out, bool transpose_a, bool transpose_b) {
  return {.m = out.dim(-2),
          .k = transpose_a ? a.dim(-2) : a.dim(-1),
          .n = out.dim(-1),
          .transpose_a = transpose_a,
          .transpose_b = transpose_b};
}

std::unique_ptr<Kernel> MakeMatMul(const KernelSpec& spec) {
  const Sizes sizes = SizesOf(spec.inputs[0].shape, spec.outputs[0].shape,
                              spec.attrs.b("transpose_a"), spec.attrs.b("transpose_b"));
  return VisitMatMul(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    return MakeKernel(
        [sizes](const KernelArgs& args) {
          MultiplyOne(sizes, args.in<T>(0), args.in<T>(1), args.out<T>(0), args.scratch);
          return absl::OkStatus();
        },
        ScratchBytes<Accumulator<T>>(sizes));
  });
}

// For every matrix of `out`, the number of the matrix of `input` that broadcasts to it.
std::vector<int64_t> BatchIndex(const Shape& input, const Shape& out) {
  const int batch_rank = out.rank() - 2;
  int64_t count = 1;
  for (int axis = 0; axis < batch_rank; ++axis) count *= out.dim(axis);
  std::vector<int64_t> index(static_cast<size_t>(count));
  for (int64_t matrix = 0; matrix < count; ++matrix) {
    int64_t rest = matrix, stride = 1, offset = 0;
    for (int axis = batch_rank - 1; axis >= 0; --axis) {
      const int64_t position = rest % out.dim(axis);
      rest /= out.dim(axis);
      const int input_axis = axis - (out.rank() - input.rank());
      if (input_axis < 0) continue;
      if (input.dim(input_axis) != 1) offset += position * stride;
      stride *= input.dim(input_axis);
    }
    index[static_cast<size_t>(matrix)] = offset;
  }
  return index;
}

std::unique_ptr<Kernel> MakeBatchMatMul(const KernelSpec& spec) {
  const Shape& out = spec.outputs[0].shape;
  const Sizes sizes =
      SizesOf(spec.inputs[0].shape, out, spec.attrs.b("adj_x"), spec.attrs.b("adj_y"));
  const std::vector<int64_t> index_a = BatchIndex(spec.inputs[0].shape, out);
  const std::vector<int64_t> index_b = BatchIndex(spec.inputs[1].shape, out);
  return VisitMatMul(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    return MakeKernel(
        [sizes, index_a, index_b](const KernelArgs& args) {
          for (size_t i = 0; i < index_a.size(); ++i) {
            MultiplyOne(sizes, args.in<T>(0) + index_a[i] * sizes.m * sizes.k,
                        args.in<T>(1) + index_b[i] * sizes.k * sizes.n,
                        args.out<T>(0) + static_cast<int64_t>(i) * sizes.m * sizes.n, args.scratch);
          }
          return absl::OkStatus();
        },
        ScratchBytes<Accumulator<T>>(sizes));
  });
}

EST_REGISTER_KERNEL("MatMul", KernelTier::kReference, MakeMatMul);
EST_REGISTER_KERNEL("BatchMatMulV2", KernelTier::kReference, MakeBatchMatMul);

}  // namespace
}  // namespace estimator
