// The gradient of batch normalization. batch_norm.cc describes the ops.
#include <cmath>
#include <cstdint>

#include "estimator/kernels/fused/batch_norm.h"
#include "estimator/kernels/fused/batch_norm_rows.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/sums.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"

namespace estimator::fused {
namespace {

// The operands from element e on, in a row that begins with channel `first`.
template <typename T>
NormGradientRows<T> From(const NormGradientRows<T>& all, int64_t e, int64_t first) {
  return {.dy = all.dy + e,
          .x = all.x + e,
          .y = all.y == nullptr ? nullptr : all.y + e,
          .mean = all.mean + first,
          .a = all.a + first,
          .offset = all.offset == nullptr ? nullptr : all.offset + first};
}

// dx = a * g + b * (x - mean) + d.
//   d_offset = sum g
//   d_scale  = sum g * z,  z = (x - mean) / sqrt(variance + epsilon)
//   training:   dx = scale / sqrt(variance + epsilon) * (g - mean(g) - z * mean(g * z))
//   inference:  dx = scale / sqrt(variance + epsilon) * g
// Writes the first two, and b and d of the third.
void WriteSlopes(const Norm& norm, const ChannelSums<2>& sums, const Channels& channels,
                 const KernelArgs& args, float* b, float* d) {
  const double *const sum = sums.total(args.scratch), *const sum_x = sums.total(args.scratch, 1);
  // In inference mean and variance do not depend on x, so the gradient has no share of the sums.
  const double share = norm.is_training ? 1 / static_cast<double>(norm.planes.count()) : 0;
  for (int64_t c = channels.begin; c < channels.end; ++c) {
    const double inverse = 1 / std::sqrt(static_cast<double>(args.in<float>(4)[c]) + norm.epsilon);
    const double slope = static_cast<double>(args.in<float>(2)[c]) * inverse;
    args.out<float>(1)[c] = static_cast<float>(sum_x[c] * inverse);
    args.out<float>(2)[c] = static_cast<float>(sum[c]);
    b[c] = static_cast<float>(-slope * share * inverse * inverse * sum_x[c]);
    d[c] = static_cast<float>(-slope * share * sum[c]);
  }
}

template <typename T>
void RunBackward(const Norm& norm, Gate gate, const ChannelSums<2>& sums, float* slopes,
                 const KernelArgs& args) {
  const ChannelPlanes& p = norm.planes;
  float *const a = slopes, *const b = a + p.channels(), *const d = b + p.channels();
  Slopes(norm, args.in<float>(2), args.in<float>(4), AllOf(p), a);
  const NormGradientRows<T> in{.dy = args.in<T>(0),
                               .x = args.in<T>(1),
                               .y = IsByY(gate) ? args.in<T>(7) : nullptr,
                               .mean = args.in<float>(3),
                               .a = a,
                               .offset = IsFoundAgain(gate) ? args.in<float>(6) : nullptr};
  T *const dx = args.out<T>(0), *const dside = norm.side ? args.out<T>(5) : nullptr;
  const auto add = [&](int64_t begin, int64_t end, int64_t channel, float* run) {
    AddGradientRows(gate, From(in, begin * p.width, channel), end - begin, p.width, run);
  };
  const auto write = [&](int64_t begin, int64_t end, int64_t channel) {
    const int64_t e = begin * p.width;
    WriteGradientRows(gate, From(in, e, channel), end - begin, p.width, a + channel, b + channel,
                      d + channel, dx + e, dside == nullptr ? nullptr : dside + e);
  };
  const Chunks blocks = sums.blocks();
  if (blocks.items > 0) {
    ParallelFor(blocks, [&](int chunk, int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        sums.RunBlock(args.scratch, chunk, block, add);
        WriteSlopes(norm, sums, BlockOf(p, block), args, b, d);
        ForEachPieceBackward(p, block, write);
      }
    });
    return;
  }
  sums.Run(args.scratch, add);
  WriteSlopes(norm, sums, AllOf(p), args, b, d);
  ParallelFor(sums.chunks(),
              [&](int, int64_t begin, int64_t end) { ForEachPieceBackward(p, begin, end, write); });
}

Gate GateOf(const Norm& norm) {
  switch (norm.activation) {
    case NormActivation::kIdentity:
      return Gate::kOpen;
    case NormActivation::kRelu:
      // Without a side input y follows from x, which is read anyway. With one, y would need the
      // side input, so y itself is read.
      return norm.side ? Gate::kReluByY : Gate::kReluFoundAgain;
    case NormActivation::kRelu6:
      return norm.side ? Gate::kRelu6ByY : Gate::kRelu6FoundAgain;
  }
  return Gate::kOpen;
}

template <typename T>
KernelPlan MakeTypedBatchNormGrad(const KernelSpec& spec) {
  const Norm norm = NormOf(spec, spec.inputs[1]);
  const bool activated = norm.activation != NormActivation::kIdentity;
  if (!norm.ok() || spec.inputs.size() < (activated ? 8u : 6u)) return nullptr;
  if (norm.side && spec.outputs.size() != 6) return nullptr;
  const ChannelSums<2> sums(norm.planes);
  const size_t sums_bytes = AlignedBytes(sums.bytes());
  const size_t slopes = static_cast<size_t>(3 * norm.planes.channels());
  const Gate gate = GateOf(norm);
  return MakeKernel(
      [norm, gate, sums, sums_bytes](const KernelArgs& args) {
        float* const slopes =
            reinterpret_cast<float*>(static_cast<char*>(args.scratch) + sums_bytes);
        RunBackward<T>(norm, gate, sums, slopes, args);
      },
      sums_bytes + slopes * sizeof(float), /*alias_input=*/0);
}

KernelPlan MakeBatchNormGrad(const KernelSpec& spec) {
  if (!HasFloat32Parameters(spec, {0, 1, 7})) return nullptr;
  return spec.inputs[1].dtype == DType::kBfloat16 ? MakeTypedBatchNormGrad<Bfloat16>(spec)
                                                  : MakeTypedBatchNormGrad<float>(spec);
}

EST_REGISTER_KERNEL("FusedBatchNormGradV3", KernelTier::kFused, MakeBatchNormGrad);
EST_REGISTER_KERNEL("_FusedBatchNormGradEx", KernelTier::kFused, MakeBatchNormGrad);

}  // namespace
}  // namespace estimator::fused
