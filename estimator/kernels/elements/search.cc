// ArgMax and ArgMin of f32 on all threads. As in the reference tier, the first of equal elements is
// taken, and a NaN never is.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"

namespace estimator::fused {
namespace {

// x is [outer, size, inner]; the index is along the middle axis.
struct Extents {
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;
};

template <bool kLargest>
bool IsBetter(float a, float b) {
  return kLargest ? a > b : a < b;
}
template <bool kLargest>
constexpr float kWorst = kLargest ? std::numeric_limits<float>::lowest()
                                  : std::numeric_limits<float>::max();

// The index of the best of n adjacent elements: first its value, with vectors, then its place.
template <bool kLargest>
int64_t BestOfRow(const float* x, int64_t n) {
  constexpr int64_t kLanes = 16;
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, kWorst<kLargest>);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
#pragma omp simd
    for (int64_t k = 0; k < kLanes; ++k)
      lanes[k] = IsBetter<kLargest>(x[i + k], lanes[k]) ? x[i + k] : lanes[k];
  }
  float best = kWorst<kLargest>;
  for (const float lane : lanes) best = IsBetter<kLargest>(lane, best) ? lane : best;
  for (; i < n; ++i) best = IsBetter<kLargest>(x[i], best) ? x[i] : best;
  if (best == kWorst<kLargest>) return 0;  // no element is better
  return std::find(x, x + n, best) - x;
}

template <bool kLargest>
int64_t BestOfColumn(const float* x, int64_t n, int64_t stride) {
  int64_t index = 0;
  float best = kWorst<kLargest>;
  for (int64_t k = 0; k < n; ++k) {
    const float value = x[k * stride];
    if (!IsBetter<kLargest>(value, best)) continue;
    index = k;
    best = value;
  }
  return index;
}

template <bool kLargest, typename Index>
std::unique_ptr<Kernel> MakeTyped(const Extents& e) {
  const Chunks chunks = MakeChunks(e.outer * e.inner, e.size);
  return MakeFusedKernel([e, chunks](const KernelArgs& args) {
    ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float* const x = args.in<float>(0) + i / e.inner * e.size * e.inner + i % e.inner;
        const int64_t best = e.inner == 1 ? BestOfRow<kLargest>(x, e.size)
                                          : BestOfColumn<kLargest>(x, e.size, e.inner);
        args.out<Index>(0)[i] = static_cast<Index>(best);
      }
    });
    return absl::OkStatus();
  });
}

template <bool kLargest>
std::unique_ptr<Kernel> MakeArg(const KernelSpec& spec) {
  if (spec.inputs[0].dtype != DType::kFloat32) return nullptr;
  if (spec.constants.size() < 2 || !spec.constants[1].has_value()) return nullptr;
  const Shape& shape = spec.inputs[0].shape;
  int64_t axis = static_cast<int64_t>(spec.constants[1]->AsDouble(0));
  if (axis < 0) axis += shape.rank();
  Extents e;
  for (int i = 0; i < shape.rank(); ++i)
    (i < axis ? e.outer : i > axis ? e.inner : e.size) *= shape[i];
  return spec.outputs[0].dtype == DType::kInt64 ? MakeTyped<kLargest, int64_t>(e)
                                                : MakeTyped<kLargest, int32_t>(e);
}

EST_REGISTER_KERNEL("ArgMax", KernelTier::kFused, MakeArg<true>);
EST_REGISTER_KERNEL("ArgMin", KernelTier::kFused, MakeArg<false>);

}  // namespace
}  // namespace estimator::fused
