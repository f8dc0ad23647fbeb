// UnsortedSegmentSum and AddN in f32 on all threads. Each gives the bits of the
// reference tier.
#include <algorithm>
#include <cstdint>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/indices.h"

namespace estimator::fused {
namespace {

bool IsF32(const TensorSpec& spec) { return spec.dtype == DType::kFloat32; }

// Each thread adds the rows of its segments, in the order of the ids.
KernelPlan MakeSegmentSum(const KernelSpec& spec) {
  const Shape& out = spec.outputs[0].shape;
  if (!IsF32(spec.inputs[0]) || out.rank() < 1 || out.num_elements() == 0) return nullptr;
  const int64_t segments = out[0], width = out.num_elements() / segments,
                n = spec.inputs[1].shape.num_elements();
  const DType index = spec.inputs[1].dtype;
  if (spec.inputs[0].shape.num_elements() != n * width || !IsIndex(index)) return nullptr;
  const Chunks chunks = MakeChunks(segments, width + n * width / segments);
  return MakeKernel([=](const KernelArgs& args) {
    const Indices ids(index, args.inputs[1]);
    for (int64_t i = 0; i < n; ++i) {
      // All ids are checked before the threads start, so that the error names the first bad one.
      if (ids[i] >= segments)
        return IndexOutOfRange("segment_ids", i, n, ids[i], segments, args.step);
    }
    ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
      float* const sums = args.out<float>(0);
      std::fill(sums + begin * width, sums + end * width, 0.0f);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t id = ids[i];
        // Each thread reads all ids but adds to its own segments only. So no sum has two writers,
        // and the order is that of the ids.
        if (id < begin || id >= end) continue;  // a row with a negative id is dropped
        const float* const x = args.in<float>(0) + i * width;
        float* const sum = sums + id * width;
#pragma omp simd
        for (int64_t c = 0; c < width; ++c) sum[c] += x[c];
      }
    });
    return absl::OkStatus();
  });
}

KernelPlan MakeAddN(const KernelSpec& spec) {
  if (spec.inputs.empty() || !IsF32(spec.inputs[0])) return nullptr;
  const int64_t size = spec.outputs[0].shape.num_elements();
  const Chunks chunks = MakeChunks(size, static_cast<int64_t>(spec.inputs.size()));
  return MakeKernel([size, chunks](const KernelArgs& args) {
    if (size == 0) return;
    ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
      constexpr int64_t kTile = 2048;  // stays in the L1 cache
      for (int64_t tile = begin; tile < end; tile += kTile) {
        const int64_t stop = std::min(end, tile + kTile);
        float* const sum = args.out<float>(0);
        std::copy(args.in<float>(0) + tile, args.in<float>(0) + stop, sum + tile);
        for (size_t k = 1; k < args.inputs.size(); ++k) {
          const float* const x = args.in<float>(static_cast<int>(k));
#pragma omp simd
          for (int64_t i = tile; i < stop; ++i) sum[i] += x[i];
        }
      }
    });
  });
}

EST_REGISTER_KERNEL("UnsortedSegmentSum", KernelTier::kFused, MakeSegmentSum);
EST_REGISTER_KERNEL("AddN", KernelTier::kFused, MakeAddN);

}  // namespace
}  // namespace estimator::fused
