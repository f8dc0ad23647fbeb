// Layer normalization over the last axis, forward and backward, in f32 on all threads. A row stays
// in the L1 cache while its statistics and its result are computed. Both ops are made by a pass.
//   _LayerNorm: x [..., C], gamma [C], beta [C] -> y like x, mean [..., 1], rstd [..., 1]
//     attribute epsilon; y = (x - mean) rstd gamma + beta, rstd = 1 / sqrt(variance + epsilon)
//   _LayerNormGrad: dy, x [..., C], gamma [C], mean, rstd [..., 1] -> dx like x, dgamma, dbeta [C]
// More inputs are ignored. They are constants of the ops that were replaced.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/transformer/layer_norm_rows.h"

namespace estimator::transformer {
namespace {

using fused::Chunks;

// Whether the first tensors are f32 with these numbers of elements.
bool AreF32(const std::vector<TensorSpec>& specs, std::initializer_list<int64_t> sizes) {
  const auto fits = [](int64_t size, const TensorSpec& spec) {
    return spec.dtype == DType::kFloat32 && spec.shape.num_elements() == size;
  };
  // More operands than sizes are allowed: the pass leaves constants of the replaced ops behind.
  return specs.size() >= sizes.size() &&
         std::equal(sizes.begin(), sizes.end(), specs.begin(), fits);
}

KernelPlan MakeLayerNorm(const KernelSpec& spec) {
  if (spec.inputs.empty()) return nullptr;
  const Shape& shape = spec.inputs[0].shape;
  if (shape.rank() < 1 || shape.num_elements() == 0) return nullptr;
  const int64_t channels = shape[-1], rows = shape.num_elements() / channels;
  if (!AreF32(spec.inputs, {rows * channels, channels, channels}) ||
      !AreF32(spec.outputs, {rows * channels, rows, rows}))
    return nullptr;
  const Chunks chunks = fused::MakeChunks(rows, 2 * channels);
  const float epsilon = spec.attrs.f("epsilon");
  return MakeKernel(
      [chunks, channels, epsilon](const KernelArgs& args) {
        fused::ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
          LayerNormRows(args.in<float>(0) + begin * channels, args.in<float>(1), args.in<float>(2),
                        end - begin, channels, epsilon, args.out<float>(0) + begin * channels,
                        args.out<float>(1) + begin, args.out<float>(2) + begin);
        });
      },
      /*scratch_bytes=*/0, /*alias_input=*/0);
}

// The sums over the rows are added in f32 for up to kRun rows, and then in f64. Their order depends
// only on the number of chunks.
constexpr int64_t kRun = 32;

KernelPlan MakeLayerNormGrad(const KernelSpec& spec) {
  if (spec.inputs.size() < 2) return nullptr;
  const Shape& shape = spec.inputs[1].shape;
  if (shape.rank() < 1 || shape.num_elements() == 0) return nullptr;
  const int64_t channels = shape[-1], rows = shape.num_elements() / channels;
  if (!AreF32(spec.inputs, {rows * channels, rows * channels, channels, rows, rows}) ||
      !AreF32(spec.outputs, {rows * channels, channels, channels}))
    return nullptr;
  const Chunks chunks = fused::MakeChunks(rows, 3 * channels);
  const auto width = static_cast<size_t>(2 * channels);  // dgamma and dbeta of a chunk
  const size_t bytes = static_cast<size_t>(chunks.count) * width * (sizeof(double) + sizeof(float));
  return MakeKernel(
      [chunks, channels, width](const KernelArgs& args) {
        double* const totals = static_cast<double*>(args.scratch);
        float* const runs =
            reinterpret_cast<float*>(totals + static_cast<size_t>(chunks.count) * width);
        fused::ParallelFor(chunks, [&](int chunk, int64_t begin, int64_t end) {
          double* const total = totals + static_cast<size_t>(chunk) * width;
          float* const run = runs + static_cast<size_t>(chunk) * width;
          std::fill(total, total + width, 0.0);
          for (int64_t row = begin; row < end; row += kRun) {
            std::fill(run, run + width, 0.0f);
            const int64_t first = row * channels;
            LayerNormGradRows(args.in<float>(0) + first, args.in<float>(1) + first,
                              args.in<float>(2), args.in<float>(3) + row, args.in<float>(4) + row,
                              std::min(kRun, end - row), channels, args.out<float>(0) + first, run,
                              run + channels);
            for (size_t c = 0; c < width; ++c) total[c] += static_cast<double>(run[c]);
          }
        });
        for (size_t c = 0; c < width; ++c) {
          // The chunks are added in their order, whichever thread was first.
          double sum = 0;
          for (int chunk = 0; chunk < chunks.count; ++chunk)
            sum += totals[static_cast<size_t>(chunk) * width + c];
          const auto channel = static_cast<int64_t>(c);
          float* const to = channel < channels ? args.out<float>(1) + channel
                                               : args.out<float>(2) + (channel - channels);
          *to = static_cast<float>(sum);
        }
      },
      bytes, /*alias_input=*/0);
}

EST_REGISTER_KERNEL("_LayerNorm", KernelTier::kFused, MakeLayerNorm);
EST_REGISTER_KERNEL("_LayerNormGrad", KernelTier::kFused, MakeLayerNormGrad);

}  // namespace
}  // namespace estimator::transformer
