// ResizeBilinear, ResizeNearestNeighbor and their gradients, on all threads. The order of the sums
// does not depend on the number of threads, so one kernel serves both tiers.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/accumulate.h"
#include "estimator/kernels/reference/loops.h"
#include "estimator/kernels/resize_taps.h"

namespace estimator {
namespace {

// Each row of the result is the sum of rows of the input, and then each pixel that of pixels.
template <typename In, typename Out>
KernelPlan WeightedResize(const KernelSpec& spec) {
  using Sum = Compute<Out>;
  const Shape &in = spec.inputs[0].shape, &out = spec.outputs[0].shape;
  const int64_t height = in[1], pixels = in[2], channels = in[3], rows = out[1], columns = out[2];
  const fused::Chunks chunks = fused::MakeChunks(out[0] * rows, 4 * columns * channels);
  const size_t scratch_bytes =
      AlignedBytes(static_cast<size_t>((pixels + 1) * channels) * sizeof(Sum));
  auto run = [=, vertical = ResizeTapsOf(spec, 1),
              horizontal = ResizeTapsOf(spec, 2)](const KernelArgs& args) {
    fused::ForEachItem(chunks, [&](int chunk, int64_t item) {
      Sum* const row = reinterpret_cast<Sum*>(static_cast<char*>(args.scratch) +
                                              static_cast<size_t>(chunk) * scratch_bytes);
      Sum* const sum = row + pixels * channels;
      const int64_t width = pixels * channels;
      std::fill_n(row, width, Sum{0});
      for (const ResizeTap& tap : vertical[static_cast<size_t>(item % rows)]) {
        const In* const from = args.in<In>(0) + (item / rows * height + tap.from) * width;
#pragma omp simd
        for (int64_t i = 0; i < width; ++i)
          row[i] += static_cast<Sum>(tap.weight) * static_cast<Sum>(from[i]);
      }
      Out* to = args.out<Out>(0) + item * columns * channels;
      for (const auto& taps : horizontal) {
        std::fill_n(sum, channels, Sum{0});
        for (const ResizeTap& tap : taps) {
          const Sum* const from = row + tap.from * channels;
#pragma omp simd
          for (int64_t c = 0; c < channels; ++c) sum[c] += static_cast<Sum>(tap.weight) * from[c];
        }
        for (int64_t c = 0; c < channels; ++c) *to++ = static_cast<Out>(sum[c]);
      }
    });
  };
  return MakeKernel(std::move(run), scratch_bytes * static_cast<size_t>(chunks.count));
}

EST_REGISTER_EXACT_KERNEL("ResizeBilinear", [](const KernelSpec& spec) {
  return VisitNumbers(spec.inputs[0].dtype,
                      [&](auto tag) { return WeightedResize<decltype(tag), float>(spec); });
});
EST_REGISTER_EXACT_KERNEL("ResizeBilinearGrad", [](const KernelSpec& spec) {
  return VisitFloating(spec.outputs[0].dtype,
                       [&](auto tag) { return WeightedResize<float, decltype(tag)>(spec); });
});
EST_REGISTER_EXACT_KERNEL("ResizeNearestNeighborGrad", [](const KernelSpec& spec) {
  return VisitFloating(spec.inputs[0].dtype, [&](auto tag) {
    return WeightedResize<decltype(tag), decltype(tag)>(spec);
  });
});

// Each sum has one pixel, with the weight 1.
EST_REGISTER_EXACT_KERNEL("ResizeNearestNeighbor", [](const KernelSpec& spec) {
  return VisitNumbers(spec.inputs[0].dtype,
                      [&](auto tag) { return WeightedResize<decltype(tag), decltype(tag)>(spec); });
});

}  // namespace
}  // namespace estimator
