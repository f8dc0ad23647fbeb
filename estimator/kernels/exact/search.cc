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

template <bool kLargest, typename T>
int64_t BestOfColumn(const T* x, int64_t n, int64_t stride) {
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

template <bool kLargest, typename T, typename Index>
KernelPlan ArgKernel(const AxisExtents& e) {
  const fused::Chunks chunks = fused::MakeChunks(e.outer * e.inner, e.size);
  return MakeKernel([e, chunks](const KernelArgs& args) {
    fused::ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* const x = args.in<T>(0) + i / e.inner * e.size * e.inner + i % e.inner;
        int64_t best = -1;
        if constexpr (std::is_same_v<T, float>) {
          if (e.inner == 1) best = BestOfRow<kLargest>(x, e.size);
        }
        if (best < 0) best = BestOfColumn<kLargest>(x, e.size, e.inner);
        args.out<Index>(0)[i] = static_cast<Index>(best);
      }
    });
  });
}

template <bool kLargest>
KernelPlan MakeArg(const KernelSpec& spec) {
  const auto axes = ConstantInts(spec, 1);
  if (!axes.has_value()) return nullptr;
  const Shape& shape = spec.inputs[0].shape;
  const AxisExtents e = ExtentsAt(shape, WrapAxis((*axes)[0], shape.rank()));
  return VisitNumericOrBool(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    return spec.outputs[0].dtype == DType::kInt64 ? ArgKernel<kLargest, T, int64_t>(e)
                                                  : ArgKernel<kLargest, T, int32_t>(e);
  });
}

EST_REGISTER_EXACT_KERNEL("ArgMax", MakeArg<true>);
EST_REGISTER_EXACT_KERNEL("ArgMin", MakeArg<false>);

}  // namespace
}  // namespace estimator
