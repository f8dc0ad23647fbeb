// Sum, Mean, Max, Min and L2Loss in f32 on all threads. The reduced axes must be adjacent: all
// axes, the leading or trailing ones, or the middle ones as in a global pool. So x is [outer,
// reduced, inner].
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/sums.h"
#include "estimator/kernels/kernel.h"

namespace estimator::fused {
namespace {

struct Extents {
  int64_t outer = 1;
  int64_t reduced = 1;
  int64_t inner = 1;
};

std::optional<Extents> FindExtents(const KernelSpec& spec) {
  const Shape& shape = spec.inputs[0].shape;
  if (spec.inputs[0].dtype != DType::kFloat32 || shape.num_elements() == 0) return std::nullopt;
  if (spec.constants.size() < 2 || !spec.constants[1].has_value()) return std::nullopt;
  std::vector<bool> is_reduced(static_cast<size_t>(shape.rank()), false);
  const Array& axes = *spec.constants[1];
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    int64_t axis = static_cast<int64_t>(axes.AsDouble(i));
    if (axis < 0) axis += shape.rank();
    if (axis < 0 || axis >= shape.rank()) return std::nullopt;
    is_reduced[static_cast<size_t>(axis)] = true;
  }
  Extents extents;
  bool seen = false, closed = false;  // a reduced axis was seen; a kept axis was seen after it
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t size = shape[axis];
    // An axis of size 1 may be called reduced or kept, so it separates nothing.
    if (size == 1) continue;
    if (is_reduced[static_cast<size_t>(axis)]) {
      // Reduced axes that are apart, as in [a, kept, b], are left to the reference kernel.
      if (closed) return std::nullopt;
      seen = true;
      extents.reduced *= size;
    } else {
      closed = seen;
      (seen ? extents.inner : extents.outer) *= size;
    }
  }
  return extents;
}

KernelPlan MakeRowSums(const Extents& e, double factor) {
  const Chunks chunks = MakeChunks(e.outer, e.reduced);
  return MakeKernel([chunks, e, factor](const KernelArgs& args) {
    ForEachItem(chunks, [&](int, int64_t o) {
      const float* const x = args.in<float>(0) + o * e.reduced;
      args.out<float>(0)[o] =
          static_cast<float>(factor * SumRange(0, e.reduced, [x](int64_t i) { return x[i]; }));
    });
  });
}

// A result of one number: term(x[i]) over all elements, times factor.
template <typename Term>
KernelPlan MakeTotal(int64_t size, double factor, Term term) {
  const Chunks chunks = MakeChunks(size);
  return MakeKernel(
      [chunks, factor, term](const KernelArgs& args) {
        const float* const x = args.in<float>(0);
        double* const partial = static_cast<double*>(args.scratch);
        ParallelFor(chunks, [&](int chunk, int64_t begin, int64_t end) {
          partial[chunk] = SumRange(begin, end, [&](int64_t i) { return term(x[i]); });
        });
        // The partial sums are added in the order of the chunks, whichever thread was first.
        double total = 0;
        for (int chunk = 0; chunk < chunks.count; ++chunk) total += partial[chunk];
        args.out<float>(0)[0] = static_cast<float>(factor * total);
      },
      static_cast<size_t>(chunks.count) * sizeof(double));
}

// outer == 1: the rows of one matrix are split over the threads.
KernelPlan MakeColumnSums(const Extents& e, double factor) {
  const ChannelSums<1> sums({.rows = e.reduced, .width = e.inner});
  return MakeKernel(
      [sums, e, factor](const KernelArgs& args) {
        const float* const x = args.in<float>(0);
        sums.Run(args.scratch, [&](int64_t begin, int64_t end, int64_t, float* run) {
          for (int64_t row = begin; row < end; ++row) {
            const float* const values = x + row * e.inner;
#pragma omp simd
            for (int64_t c = 0; c < e.inner; ++c) run[c] += values[c];
          }
        });
        const double* const total = sums.total(args.scratch);
        for (int64_t c = 0; c < e.inner; ++c)
          args.out<float>(0)[c] = static_cast<float>(factor * total[c]);
      },
      sums.bytes());
}

// outer > 1: each matrix is summed by one thread.
KernelPlan MakeManyColumnSums(const Extents& e, double factor) {
  const Chunks chunks = MakeChunks(e.outer, e.reduced * e.inner);
  return MakeKernel(
      [chunks, e, factor](const KernelArgs& args) {
        ParallelFor(chunks, [&](int chunk, int64_t begin, int64_t end) {
          double* const total = static_cast<double*>(args.scratch) + chunk * e.inner;
          for (int64_t o = begin; o < end; ++o) {
            std::fill(total, total + e.inner, 0.0);
            for (int64_t r = 0; r < e.reduced; ++r) {
              const float* const x = args.in<float>(0) + (o * e.reduced + r) * e.inner;
#pragma omp simd
              for (int64_t c = 0; c < e.inner; ++c) total[c] += static_cast<double>(x[c]);
            }
            float* const y = args.out<float>(0) + o * e.inner;
            for (int64_t c = 0; c < e.inner; ++c) y[c] = static_cast<float>(factor * total[c]);
          }
        });
      },
      static_cast<size_t>(chunks.count * e.inner) * sizeof(double));
}

template <bool mean>
KernelPlan MakeReduction(const KernelSpec& spec) {
  const std::optional<Extents> e = FindExtents(spec);
  if (!e.has_value()) return nullptr;
  const double factor = mean ? 1.0 / static_cast<double>(e->reduced) : 1.0;
  if (e->inner == 1 && e->outer == 1)
    return MakeTotal(e->reduced, factor, [](float x) { return x; });
  if (e->inner == 1) return MakeRowSums(*e, factor);
  if (e->outer == 1) return MakeColumnSums(*e, factor);
  return MakeManyColumnSums(*e, factor);
}

// A NaN replaces any value, and no value replaces a NaN. Without branches, for vectors.
struct MaxOf {
  static constexpr float kInitial = -std::numeric_limits<float>::infinity();
  static float Of(float best, float x) { return (x > best) | (x != x) ? x : best; }
};
struct MinOf {
  static constexpr float kInitial = std::numeric_limits<float>::infinity();
  static float Of(float best, float x) { return (x < best) | (x != x) ? x : best; }
};

// best[c] = the best of column c and best[c], for rows of `width` elements.
template <typename Best>
void TakeRows(const float* x, int64_t rows, int64_t width, float* best) {
  for (int64_t r = 0; r < rows; ++r, x += width) {
#pragma omp simd
    for (int64_t c = 0; c < width; ++c) best[c] = Best::Of(best[c], x[c]);
  }
}

template <typename Best>
float BestOfRow(const float* x, int64_t n) {
  constexpr int64_t kLanes = 32;
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, Best::kInitial);
  TakeRows<Best>(x, n / kLanes, kLanes, lanes);
  float best = Best::kInitial;
  for (const float lane : lanes) best = Best::Of(best, lane);
  for (int64_t i = n / kLanes * kLanes; i < n; ++i) best = Best::Of(best, x[i]);
  return best;
}

template <typename Best>
KernelPlan MakeBest(const KernelSpec& spec) {
  const std::optional<Extents> found = FindExtents(spec);
  if (!found.has_value()) return nullptr;
  const Extents e = *found;
  if (e.inner == 1 && e.outer > 1) {  // each thread has some of the rows
    const Chunks chunks = MakeChunks(e.outer, e.reduced);
    return MakeKernel([chunks, e](const KernelArgs& args) {
      ForEachItem(chunks, [&](int, int64_t o) {
        args.out<float>(0)[o] = BestOfRow<Best>(args.in<float>(0) + o * e.reduced, e.reduced);
      });
    });
  }
  if (e.outer > 1) {  // each thread has some of the matrices
    const Chunks chunks = MakeChunks(e.outer, e.reduced * e.inner);
    return MakeKernel([chunks, e](const KernelArgs& args) {
      ForEachItem(chunks, [&](int, int64_t o) {
        float* const best = args.out<float>(0) + o * e.inner;
        std::fill_n(best, e.inner, Best::kInitial);
        TakeRows<Best>(args.in<float>(0) + o * e.reduced * e.inner, e.reduced, e.inner, best);
      });
    });
  }
  // One matrix: each thread has some of its rows, and a part of the scratch for its result.
  const Chunks chunks = MakeChunks(e.reduced, e.inner);
  return MakeKernel(
      [chunks, e](const KernelArgs& args) {
        float* const partial = static_cast<float*>(args.scratch);
        ParallelFor(chunks, [&](int chunk, int64_t begin, int64_t end) {
          const float* const x = args.in<float>(0) + begin * e.inner;
          float* const best = partial + chunk * e.inner;
          std::fill_n(best, e.inner, Best::kInitial);
          if (e.inner == 1) {
            *best = BestOfRow<Best>(x, end - begin);
          } else {
            TakeRows<Best>(x, end - begin, e.inner, best);
          }
        });
        std::fill_n(args.out<float>(0), e.inner, Best::kInitial);
        TakeRows<Best>(partial, chunks.count, e.inner, args.out<float>(0));
      },
      static_cast<size_t>(chunks.count * e.inner) * sizeof(float));
}

EST_REGISTER_KERNEL("Sum", KernelTier::kFused, MakeReduction<false>);
EST_REGISTER_KERNEL("Mean", KernelTier::kFused, MakeReduction<true>);
EST_REGISTER_KERNEL("Max", KernelTier::kFused, MakeBest<MaxOf>);
EST_REGISTER_KERNEL("Min", KernelTier::kFused, MakeBest<MinOf>);
EST_REGISTER_KERNEL("L2Loss", KernelTier::kFused, [](const KernelSpec& spec) -> KernelPlan {
  if (spec.inputs[0].dtype != DType::kFloat32) return nullptr;
  return MakeTotal(spec.inputs[0].shape.num_elements(), 0.5, [](float x) { return x * x; });
});

}  // namespace
}  // namespace estimator::fused
