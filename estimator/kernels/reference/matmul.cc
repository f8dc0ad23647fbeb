// MatMul and BatchMatMulV2: out[i,j] = sum_k a[i,k] * b[k,j].
//
// The sum is taken in blocks of kBlock along k, in ascending order. Eigen multiplies the blocks,
// which are copied first: to the type that sums are taken in, and transposed where the op says so.
// With blocks of this size Eigen's own blocking, which depends on the machine's caches, has nothing
// to split: one binary gives the same bits on every machine.

// One thread: oneDNN has the cores, and the bits of a product must not depend on their number.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/matmul_spec.h"
#include "estimator/kernels/reference/accumulate.h"
#include "estimator/kernels/strided_rows.h"

namespace estimator {
namespace {

// Eigen packs such blocks into at most 128 KiB each, which it takes from the stack: a step
// allocates nothing.
constexpr int64_t kBlock = 128;

template <typename Acc>
using Block = Eigen::Map<Eigen::Matrix<Acc, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>,
                         Eigen::Aligned64>;

// Copies the block whose first element is [row, column] of a matrix of `rows` by `columns`, which
// is stored transposed or not.
template <typename T, typename Acc>
void Load(const T* from, int64_t rows, int64_t columns, bool transposed, int64_t row,
          int64_t column, Block<Acc>& to) {
  const int64_t row_stride = transposed ? 1 : columns, column_stride = transposed ? rows : 1;
  from += row * row_stride + column * column_stride;
  for (int64_t i = 0; i < to.rows(); ++i) {
    for (int64_t j = 0; j < to.cols(); ++j) {
      to(i, j) = static_cast<Acc>(from[i * row_stride + j * column_stride]);
    }
  }
}

// sum += a * b. Integers wrap around, so the order of their sum does not matter, and plain loops
// spare the compiler three seconds for Eigen's product of them.
template <typename Acc>
void AddProduct(const Block<Acc>& a, const Block<Acc>& b, Block<Acc>& sum) {
  if constexpr (std::is_floating_point_v<Acc>) {
    // Without noalias, Eigen allocates a temporary for the product.
    sum.noalias() += a * b;
  } else {
    for (int64_t i = 0; i < sum.rows(); ++i) {
      for (int64_t k = 0; k < a.cols(); ++k) {
        for (int64_t j = 0; j < sum.cols(); ++j) sum(i, j) += a(i, k) * b(k, j);
      }
    }
  }
}

template <typename Acc>
constexpr size_t kScratchBytes = static_cast<size_t>(3 * kBlock * kBlock) * sizeof(Acc);

template <typename T, typename Acc = Accumulator<T>>
void MultiplyOne(const MatMulSizes& s, const T* a, const T* b, T* out, void* scratch) {
  Acc* const a_at = static_cast<Acc*>(scratch);
  Acc* const b_at = a_at + kBlock * kBlock;
  Acc* const sum_at = b_at + kBlock * kBlock;
  for (int64_t j = 0; j < s.n; j += kBlock) {
    const int64_t columns = std::min(kBlock, s.n - j);
    for (int64_t i = 0; i < s.m; i += kBlock) {
      const int64_t rows = std::min(kBlock, s.m - i);
      Block<Acc> sum(sum_at, rows, columns);
      sum.setZero();
      for (int64_t k = 0; k < s.k; k += kBlock) {
        const int64_t depth = std::min(kBlock, s.k - k);
        Block<Acc> a_block(a_at, rows, depth), b_block(b_at, depth, columns);
        Load(a, s.m, s.k, s.transpose_a, i, k, a_block);
        Load(b, s.k, s.n, s.transpose_b, k, j, b_block);
        AddProduct(a_block, b_block, sum);
      }
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c) {
          // Only complete sums are rounded to T.
          out[(i + r) * s.n + j + c] = static_cast<T>(sum(r, c));
        }
      }
    }
  }
}

// Calls fn(T{}) for what MatMul takes.
template <typename Fn>
KernelPlan VisitMatMul(DType dtype, Fn&& fn) {
  if (dtype == DType::kInt32) return fn(int32_t{});
  if (dtype == DType::kInt64) return fn(int64_t{});
  return VisitFloating(dtype, fn);
}

KernelPlan MakeMatMul(const MatMulSpec& spec) {
  const Shape batch = BatchOf(spec.c.shape);
  const StridedRows<2> matrices(batch, {BroadcastStrides(BatchOf(spec.a.shape), batch),
                                        BroadcastStrides(BatchOf(spec.b.shape), batch)});
  if (!matrices.ok()) return nullptr;
  return VisitMatMul(spec.dtype(), [&, sizes = spec.sizes](auto tag) {
    using T = decltype(tag);
    return MakeKernel(
        [sizes, matrices](const KernelArgs& args) {
          matrices.ForEachElementInOrder([&](int64_t i, const auto& at) {
            MultiplyOne(sizes, args.in<T>(0) + at[0] * sizes.m * sizes.k,
                        args.in<T>(1) + at[1] * sizes.k * sizes.n,
                        args.out<T>(0) + i * sizes.m * sizes.n, args.scratch);
          });
        },
        kScratchBytes<Accumulator<T>>);
  });
}

EST_REGISTER_KERNEL("MatMul", KernelTier::kReference, FromMatMulSpec<MakeMatMul>);
EST_REGISTER_KERNEL("BatchMatMulV2", KernelTier::kReference, FromMatMulSpec<MakeMatMul>);

}  // namespace
}  // namespace estimator
