// The gradient of batch normalization. batch_norm.cc describes the ops.
#include <cmath>
#include <cstdint>
#include <memory>

#include "estimator/kernels/fused/batch_norm.h"
#include "estimator/kernels/fused/batch_norm_rows.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/sums.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"

namespace estimator::fused {
namespace {

// The operands of a gradient kernel.
template <typename T>
struct Backward : NormGradientRows<T> {
  T* dside;  // null if there is no side input

  // Those from row `begin` on, a row of `width` channels that begin with channel `first`.
  NormGradientRows<T> From(int64_t begin, int64_t width, int64_t first) const {
    const int64_t e = begin * width;
    const NormGradientRows<T>& all = *this;
    return {.dy = all.dy + e,
            .x = all.x + e,
            .y = all.y == nullptr ? nullptr : all.y + e,
            .mean = all.mean + first,
            .a = all.a + first,
            .offset = all.offset == nullptr ? nullptr : all.offset + first};
  }
};

template <Gate kGate, typename T>
inline float Gradient(const Backward<T>& in, int64_t e, int64_t channel) {
  if (kGate == Gate::kOpen) return in.dy[e];
  const float y = kGate == Gate::kByY
                      ? static_cast<float>(in.y[e])
                      : Normalized(in.x[e], in.mean[channel], in.a[channel], in.offset[channel]);
  return y > 0 ? static_cast<float>(in.dy[e]) : 0.0f;
}

// Adds the gradients of the rows [begin, end), and the gradients times x - mean.
template <int64_t kWidth, Gate kGate, typename T>
void AddGradients(const Backward<T>& in, int64_t begin, int64_t end, int64_t first, int64_t width,
                  float* sums) {
  const int64_t w = kWidth == 0 ? width : kWidth;
  if (w % kNormWidth == 0)
    return AddGradientRows(kGate, in.From(begin, w, first), end - begin, w, sums);
  float* const sums_x = sums + w;
  const float* const mean = in.mean + first;
  for (int64_t e = begin * w; e < end * w; e += w) {
#pragma omp simd
    for (int64_t c = 0; c < w; ++c) {
      const float g = Gradient<kGate>(in, e + c, first + c);
      sums[c] += g;
      sums_x[c] += g * (static_cast<float>(in.x[e + c]) - mean[c]);
    }
  }
}

// dx = a * g + b * (x - mean) + d.
struct Slope {
  const float *a, *b, *d;
};

template <int64_t kWidth, Gate kGate, typename T>
void GradientRows(const Backward<T>& in, const Slope& slope, int64_t begin, int64_t end,
                  int64_t first, int64_t width, T* dx) {
  const int64_t w = kWidth == 0 ? width : kWidth;
  const float *const mean = in.mean + first, *const a = slope.a + first, *const b = slope.b + first,
                     *const d = slope.d + first;
  if (w % kNormWidth == 0) {
    return WriteGradientRows(kGate, in.From(begin, w, first), end - begin, w, a, b, d,
                             dx + begin * w, in.dside == nullptr ? nullptr : in.dside + begin * w);
  }
  for (int64_t e = begin * w; e < end * w; e += w) {
    if (in.dside != nullptr) {  // first, because dx may overwrite dy
#pragma omp simd
      for (int64_t c = 0; c < w; ++c)
        in.dside[e + c] = static_cast<T>(Gradient<kGate>(in, e + c, first + c));
    }
#pragma omp simd
    for (int64_t c = 0; c < w; ++c) {
      const float g = Gradient<kGate>(in, e + c, first + c);
      dx[e + c] =
          static_cast<T>(a[c] * g + b[c] * (static_cast<float>(in.x[e + c]) - mean[c]) + d[c]);
    }
  }
}

//   d_offset = sum g
//   d_scale  = sum g * z,  z = (x - mean) / sqrt(variance + epsilon)
//   training:   dx = scale / sqrt(variance + epsilon) * (g - mean(g) - z * mean(g * z))
//   inference:  dx = scale / sqrt(variance + epsilon) * g
// Writes the first two, and b and d of the third.
void WriteSlopes(const Norm& norm, const ChannelSums<2>& sums, const Channels& channels,
                 const KernelArgs& args, float* b, float* d) {
  const double *const sum = sums.total(args.scratch), *const sum_x = sums.total(args.scratch, 1);
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

template <typename T, int64_t kWidth, Gate kGate>
void RunBackward(const Norm& norm, const ChannelSums<2>& sums, float* slopes,
                 const KernelArgs& args) {
  const ChannelPlanes& p = norm.planes;
  float *const a = slopes, *const b = a + p.channels(), *const d = b + p.channels();
  Slopes(norm, args.in<float>(2), args.in<float>(4), AllOf(p), a);
  const Backward<T> in{{.dy = args.in<T>(0),
                        .x = args.in<T>(1),
                        .y = kGate == Gate::kByY ? args.in<T>(7) : nullptr,
                        .mean = args.in<float>(3),
                        .a = a,
                        .offset = kGate == Gate::kFoundAgain ? args.in<float>(6) : nullptr},
                       norm.side ? args.out<T>(5) : nullptr};
  const auto add = [&](int64_t begin, int64_t end, int64_t channel, float* run) {
    AddGradients<kWidth, kGate>(in, begin, end, channel, p.width, run);
  };
  const auto write = [&](int64_t first, int64_t last, int64_t channel) {
    GradientRows<kWidth, kGate>(in, {a, b, d}, first, last, channel, p.width, args.out<T>(0));
  };
  const Chunks blocks = sums.blocks();
  if (blocks.items > 0) {
    ParallelFor(blocks, [&](int chunk, int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        sums.RunBlock(args.scratch, chunk, block, add);
        WriteSlopes(norm, sums, BlockOf(p, block), args, b, d);
        ForEachImageBackward(p, block, write);
      }
    });
    return;
  }
  sums.Run(args.scratch, add);
  WriteSlopes(norm, sums, AllOf(p), args, b, d);
  ParallelFor(sums.chunks(), [&](int, int64_t begin, int64_t end) {
    ChannelSums<1>::ForEachPiece(p, begin, end, p.rows, write);
  });
}

template <typename T>
std::unique_ptr<Kernel> MakeTypedBatchNormGrad(const KernelSpec& spec) {
  const Norm norm = NormOf(spec, spec.inputs[1]);
  if (!norm.ok() || spec.inputs.size() < (norm.relu ? 8u : 6u)) return nullptr;
  if (norm.side && spec.outputs.size() != 6) return nullptr;
  const ChannelSums<2> sums(norm.planes);
  const size_t sums_bytes = (sums.bytes() + 63) / 64 * 64;
  const size_t slopes = static_cast<size_t>(3 * norm.planes.channels());
  return MakeFusedKernel(
      [norm, sums, sums_bytes](const KernelArgs& args) {
        float* const slopes =
            reinterpret_cast<float*>(static_cast<char*>(args.scratch) + sums_bytes);
        WithWidth(norm.planes.width, [&](auto width) {
          const auto run = !norm.relu  ? RunBackward<T, width(), Gate::kOpen>
                           : norm.side ? RunBackward<T, width(), Gate::kByY>
                                       : RunBackward<T, width(), Gate::kFoundAgain>;
          run(norm, sums, slopes, args);
        });
        return absl::OkStatus();
      },
      {.scratch_bytes = sums_bytes + slopes * sizeof(float), .alias_input = 0});
}

std::unique_ptr<Kernel> MakeBatchNormGrad(const KernelSpec& spec) {
  if (!HasFloat32Parameters(spec, {0, 1, 7})) return nullptr;
  return spec.inputs[1].dtype == DType::kBfloat16 ? MakeTypedBatchNormGrad<Bfloat16>(spec)
                                                  : MakeTypedBatchNormGrad<float>(spec);
}

EST_REGISTER_KERNEL("FusedBatchNormGradV3", KernelTier::kFused, MakeBatchNormGrad);
EST_REGISTER_KERNEL("_FusedBatchNormGradEx", KernelTier::kFused, MakeBatchNormGrad);

}  // namespace
}  // namespace estimator::fused
