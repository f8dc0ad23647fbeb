// ArgMax and ArgMin on all threads. The first of equal elements is taken, and a NaN never is.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

template <bool kLargest, typename T>
bool IsBetter(T a, T b) {
  return kLargest ? a > b : a < b;
}
// The value to begin with, so that a NaN is never better.
template <bool kLargest, typename T>
constexpr T kWorst = kLargest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();

// The index of the best of n adjacent elements: first its value, with vectors, then its place.
template <bool kLargest>
int64_t BestOfRow(const float* x, int64_t n) {
  constexpr int64_t kLanes = 16;
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, kWorst<kLargest, float>);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
#pragma omp simd
    for (int64_t k = 0; k < kLanes; ++k)
      lanes[k] = IsBetter<kLargest>(x[i + k], lanes[k]) ? x[i + k] : lanes[k];
  }
  float best = kWorst<kLargest, float>;
  for (const float lane : lanes) best = IsBetter<kLargest>(lane, best) ? lane : best;
  for (; i < n; ++i) best = IsBetter<kLargest>(x[i], best) ? x[i] : best;
  if (best == kWorst<kLargest, float>) return 0;  // no element is better
  // Lanes do not know which of two equal elements comes first. The search from the left does.
  return std::find(x, x + n, best) - x;
}

// The index of the best of n elements that are `stride` apart, from element `first` of x on. Only
// this is compiled for each type.
using BestFn = int64_t (*)(const void* x, int64_t first, int64_t n, int64_t stride);

template <bool kLargest, typename T>
int64_t BestOf(const void* elements, int64_t first, int64_t n, int64_t stride) {
  const T* const x = static_cast<const T*>(elements) + first;
  if constexpr (std::is_same_v<T, float>) {
    if (stride == 1) return BestOfRow<kLargest>(x, n);
  }
  int64_t index = 0;
  auto best = kWorst<kLargest, Compute<T>>;
  for (int64_t k = 0; k < n; ++k) {
    const auto value = static_cast<Compute<T>>(x[k * stride]);
    if (!IsBetter<kLargest>(value, best)) continue;
    index = k;
    best = value;
  }
  return index;
}

template <bool kLargest>
KernelPlan MakeArg(const KernelSpec& spec) {
  const auto axes = ConstantInts(spec, 1);
  if (!axes.has_value()) return nullptr;
  const Shape& shape = spec.inputs[0].shape;
  const AxisExtents e = ExtentsAt(shape, WrapAxis((*axes)[0], shape.rank()));
  BestFn best = nullptr;
  VisitNumeric(spec.inputs[0].dtype, [&](auto tag) { best = BestOf<kLargest, decltype(tag)>; });
  if (best == nullptr) return nullptr;
  const bool wide = spec.outputs[0].dtype == DType::kInt64;
  const fused::Chunks chunks = fused::MakeChunks(e.outer * e.inner, e.size);
  return MakeKernel([e, chunks, best, wide](const KernelArgs& args) {
    fused::ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i / e.inner * e.size * e.inner + i % e.inner;
        const int64_t index = best(args.inputs[0], first, e.size, e.inner);
        if (wide)
          args.out<int64_t>(0)[i] = index;
        else
          args.out<int32_t>(0)[i] = static_cast<int32_t>(index);
      }
    });
  });
}

EST_REGISTER_EXACT_KERNEL("ArgMax", MakeArg<true>);
EST_REGISTER_EXACT_KERNEL("ArgMin", MakeArg<false>);

}  // namespace
}  // namespace estimator
