// TopKV2, InTopKV2.
//
// A NaN comes before every number, and one with a sign bit after every number. This is TensorFlow's
// order on a TPU. Its CPU kernel has none: there a NaN leaves the numbers around it unsorted.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

// 1 for a NaN, -1 for a NaN with a sign bit, and 0 for a number.
template <typename T>
int RankOf(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x) ? (std::signbit(x) ? -1 : 1) : 0;
  return 0;
}

// Whether x[a] comes before x[b]. Equal elements are ordered by index, as in TensorFlow.
template <typename T>
bool IsBefore(const T* x, int32_t a, int32_t b) {
  const auto xa = static_cast<Compute<T>>(x[a]), xb = static_cast<Compute<T>>(x[b]);
  const int rank_a = RankOf(xa), rank_b = RankOf(xb);
  if (rank_a != rank_b) return rank_a > rank_b;
  return xa > xb || (!(xb > xa) && a < b);
}

EST_REGISTER_KERNEL("TopKV2", KernelTier::kReference, [](const KernelSpec& spec) {
  return VisitNumbers(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    const int64_t columns = spec.inputs[0].shape.dim(-1);
    const int64_t k = spec.outputs[0].shape.dim(-1);
    const int64_t rows = columns == 0 ? 0 : spec.inputs[0].shape.num_elements() / columns;
    return MakeKernel(
        [rows, columns, k](const KernelArgs& args) {
          auto* order = static_cast<int32_t*>(args.scratch);
          for (int64_t row = 0; row < rows; ++row) {
            const T* x = args.in<T>(0) + row * columns;
            std::iota(order, order + columns, 0);
            std::partial_sort(order, order + k, order + columns,
                              [x](int32_t a, int32_t b) { return IsBefore(x, a, b); });
            for (int64_t i = 0; i < k; ++i) {
              args.out<T>(0)[row * k + i] = x[order[i]];
              args.out<int32_t>(1)[row * k + i] = order[i];
            }
          }
        },
        static_cast<size_t>(columns) * sizeof(int32_t));
  });
});

template <typename Index>
KernelPlan InTopKKernel(const KernelSpec& spec, int64_t k) {
  const int64_t rows = spec.inputs[0].shape.dim(0);
  const int64_t columns = spec.inputs[0].shape.dim(1);
  return MakeKernel([rows, columns, k](const KernelArgs& args) {
    for (int64_t row = 0; row < rows; ++row) {
      const float* x = args.in<float>(0) + row * columns;
      const auto target = static_cast<int64_t>(args.in<Index>(1)[row]);
      // A target out of range is in no top k. TensorFlow reports no error for it, either.
      bool in = target >= 0 && target < columns && std::isfinite(x[target]);
      int64_t num_larger = 0;
      for (int64_t i = 0; in && i < columns; ++i) {
        if (!std::isfinite(x[i]))
          in = false;  // as in TensorFlow: such a row has no order
        else
          num_larger += x[i] > x[target];
      }
      args.out<bool>(0)[row] = in && num_larger < k;
    }
  });
}

EST_REGISTER_KERNEL("InTopKV2", KernelTier::kReference, [](const KernelSpec& spec) -> KernelPlan {
  const auto k = ConstantInts(spec, 2);
  if (!k.has_value() || spec.inputs[0].dtype != DType::kFloat32) return nullptr;
  return spec.inputs[1].dtype == DType::kInt64 ? InTopKKernel<int64_t>(spec, (*k)[0])
                                               : InTopKKernel<int32_t>(spec, (*k)[0]);
});

}  // namespace
}  // namespace estimator
