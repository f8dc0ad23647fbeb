// Batch normalization of f32 and bf16 images, and in batch_norm_grad.cc its gradient, with or
// without the ops that follow it, on all threads. The channels are the last axis, or are in blocks
// (kernels/layout.h).
//   FusedBatchNormV3, FusedBatchNormGradV3
//     The formulas of the reference tier (TF 2.15 fused_batch_norm_op.cc).
//   _FusedBatchNormEx
//     The same, then y = act(y + side). Attributes: num_side_inputs (0 or 1) and activation_mode
//     ("Identity", "Relu" or "Relu6"). The side input is input 5 and has x's shape. In inference
//     all this is one multiplication, one addition and one or two comparisons for each element.
//   _FusedBatchNormGradEx
//     Inputs: those of FusedBatchNormGradV3, then offset and y. Outputs: the same, then the
//     gradient of the side input if there is one. The gradient of relu flows if y > 0, that of
//     relu6 if 0 < y < 6. Without a side input y is not read but computed again from x.
// Each image is read once for the sums and once for the result, and a result is written once: these
// two passes are limited by the speed of memory, and are about as fast as a copy
// (batch_norm_rows.h). In blocks, a thread finishes one block of channels after the other, so that
// the second pass finds the block in its cache. The second pass runs backward and so begins with
// what was read last. All but the images is f32, also the sums. What a kernel computes is rounded
// to bf16 once, where single ops round the result of each op.
// Source of the names: TF 2.15 nn_ops.cc.
#include "estimator/kernels/fused/batch_norm.h"

#include "estimator/kernels/fused/parallel.h"

namespace estimator::fused {
namespace {

// An approximate mean of each channel of a block, from a few rows of all parts of x. With moments
// about it, one pass is enough, and no accuracy is lost if the mean is large.
template <typename T>
void RoughMeans(const ChannelPlanes& planes, const T* x, int64_t block, float* means) {
  constexpr int64_t kSamples = 64;
  const int64_t samples = std::min(kSamples, planes.count());
  float* const mean = means + block * planes.width;
  std::fill(mean, mean + planes.width, 0.0f);
  for (int64_t s = 0; s < samples; ++s) {
    const int64_t at = planes.count() * s / samples;  // image * rows + row
    const int64_t plane = at / planes.rows * planes.blocks + block;
    const T* const row = x + (plane * planes.rows + at % planes.rows) * planes.width;
    const float share = 1.0f / static_cast<float>(samples);
#pragma omp simd
    for (int64_t c = 0; c < planes.width; ++c) mean[c] += static_cast<float>(row[c]) * share;
  }
}

// Writes batch_mean, batch_variance (with Bessel's correction) and the moments for the backward op
// from the sums about the rough means.
void WriteMoments(const Norm& norm, const ChannelSums<2>& sums, const float* rough,
                  const Channels& channels, const KernelArgs& args) {
  const double *const sum = sums.total(args.scratch), *const squares = sums.total(args.scratch, 1);
  const double count = static_cast<double>(norm.planes.count());
  // A single row has no corrected variance. TensorFlow divides by 1 then, too.
  const double correction = count / std::max(count - 1, 1.0);
  for (int64_t c = channels.begin; c < channels.end; ++c) {
    const double off = sum[c] / count;
    const double mean = static_cast<double>(rough[c]) + off;
    // The difference may be slightly negative because of rounding, and its square root NaN.
    const double variance = std::max(squares[c] / count - off * off, 0.0);
    args.out<float>(3)[c] = static_cast<float>(mean);
    args.out<float>(4)[c] = static_cast<float>(variance);
    double new_mean = mean, new_variance = variance * correction;
    // With a factor of 1 in training, the inputs mean and variance may be empty, so they are not
    // read.
    if (norm.factor != 1) {
      new_mean =
          (1 - norm.factor) * static_cast<double>(args.in<float>(3)[c]) + norm.factor * new_mean;
      new_variance = (1 - norm.factor) * static_cast<double>(args.in<float>(4)[c]) +
                     norm.factor * new_variance;
    }
    args.out<float>(1)[c] = static_cast<float>(new_mean);
    args.out<float>(2)[c] = static_cast<float>(new_variance);
  }
}

template <typename T>
void RunForward(const Norm& norm, const ChannelSums<2>& sums, float* a, const KernelArgs& args) {
  const ChannelPlanes& p = norm.planes;
  const T *const x = args.in<T>(0), *const side = norm.side ? args.in<T>(5) : nullptr;
  const float* const offset = args.in<float>(2);
  T* const y = args.out<T>(0);
  // The rough means are in `a` until the slopes replace them.
  const auto add = [&](int64_t begin, int64_t end, int64_t channel, float* run) {
    AddMomentRows(x + begin * p.width, end - begin, p.width, a + channel, run);
  };
  const auto normalize = [&](int64_t begin, int64_t end, int64_t channel) {
    const int64_t e = begin * p.width;
    NormalizeRows(x + e, side == nullptr ? nullptr : side + e, end - begin, p.width,
                  args.out<float>(3) + channel, a + channel, offset + channel, norm.activation,
                  y + e);
  };
  const auto finish = [&](const Channels& channels) {
    if (norm.is_training) WriteMoments(norm, sums, a, channels, args);
    Slopes(norm, args.in<float>(1), args.out<float>(4), channels, a);
  };
  const Chunks blocks = sums.blocks();
  // If the blocks divide evenly among the threads, each finishes a block while it is in its cache.
  // Otherwise all threads share both passes.
  if (norm.is_training && blocks.items > 0) {
    ParallelFor(blocks, [&](int chunk, int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        RoughMeans(p, x, block, a);
        sums.RunBlock(args.scratch, chunk, block, add);
        finish(BlockOf(p, block));
        ForEachPieceBackward(p, block, normalize);
      }
    });
    return;
  }
  if (norm.is_training) {
    for (int64_t block = 0; block < p.blocks; ++block) RoughMeans(p, x, block, a);
    sums.Run(args.scratch, add);
  } else {
    for (int64_t c = 0; c < p.channels(); ++c) {
      args.out<float>(1)[c] = args.out<float>(3)[c] = args.in<float>(3)[c];
      args.out<float>(2)[c] = args.out<float>(4)[c] = args.in<float>(4)[c];
    }
  }
  finish(AllOf(p));
  ParallelFor(sums.chunks(), [&](int, int64_t begin, int64_t end) {
    ForEachPieceBackward(p, begin, end, normalize);
  });
}

template <typename T>
KernelPlan MakeTypedBatchNorm(const KernelSpec& spec) {
  const Norm norm = NormOf(spec, spec.inputs[0]);
  if (!norm.ok() || spec.inputs.size() != (norm.side ? 6u : 5u)) return nullptr;
  if (norm.side && !(spec.inputs[5] == spec.outputs[0])) return nullptr;
  const ChannelSums<2> sums(norm.planes);
  const size_t sums_bytes = AlignedBytes(sums.bytes());
  const int64_t channels = norm.planes.channels();
  return MakeKernel(
      [norm, sums, sums_bytes](const KernelArgs& args) {
        float* const a = reinterpret_cast<float*>(static_cast<char*>(args.scratch) + sums_bytes);
        RunForward<T>(norm, sums, a, args);
      },
      sums_bytes + static_cast<size_t>(channels) * sizeof(float),
      /*alias_input=*/norm.side ? 5 : 0);
}

KernelPlan MakeBatchNorm(const KernelSpec& spec) {
  if (!HasFloat32Parameters(spec, {0, 5})) return nullptr;
  return spec.inputs[0].dtype == DType::kBfloat16 ? MakeTypedBatchNorm<Bfloat16>(spec)
                                                  : MakeTypedBatchNorm<float>(spec);
}

EST_REGISTER_KERNEL("FusedBatchNormV3", KernelTier::kFused, MakeBatchNorm);
EST_REGISTER_KERNEL("_FusedBatchNormEx", KernelTier::kFused, MakeBatchNorm);

}  // namespace
}  // namespace estimator::fused
