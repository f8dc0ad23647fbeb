// Batch normalization in f32 and its gradient, with or without the ops that follow it, on all
// threads. The channels are the last axis, or are in blocks (kernels/layout.h).
//   FusedBatchNormV3, FusedBatchNormGradV3
//     The formulas of the reference tier (TF 2.15 fused_batch_norm_op.cc).
//   _FusedBatchNormEx
//     The same, then y = act(y + side). Attributes: num_side_inputs (0 or 1) and activation_mode
//     ("Identity" or "Relu"). The side input is input 5 and has x's shape. In inference all this is
//     one multiplication, one addition and one maximum for each element.
//   _FusedBatchNormGradEx
//     Inputs: those of FusedBatchNormGradV3, then offset and y. Outputs: the same, then the
//     gradient of the side input if there is one. The gradient of relu flows if y > 0. Without a
//     side input y is not read but computed again from x.
// In blocks, a thread finishes one block of channels after the other, so that the second pass finds
// the block in its cache. The second pass runs backward and so begins with what was read last.
// Source of the names: TF 2.15 nn_ops.cc.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "estimator/kernels/fused/batch_norm_rows.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/sums.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"

namespace estimator::fused {
namespace {

struct Norm {
  ChannelPlanes planes;
  double epsilon = 0;
  bool is_training = false;
  double factor = 1;  // exponential_avg_factor
  bool side = false;
  bool relu = false;

  bool ok() const { return planes.width > 0; }  // false: this tier does not support the spec
};

Norm NormOf(const KernelSpec& spec, const TensorSpec& x) {
  if (x.dtype != DType::kFloat32 || x.shape.rank() < 2 || x.shape.num_elements() == 0) return {};
  const bool blocked = IsBlocked(spec.attrs);
  if (!blocked && spec.attrs.has("data_format") && spec.attrs.s("data_format") != kPlainFormat)
    return {};
  if (blocked && x.shape.rank() != 5) return {};
  const auto has = [&](const char* name) { return spec.attrs.has(name); };
  return {.planes = PlanesOf(x.shape, blocked),
          .epsilon = spec.attrs.f("epsilon"),
          .is_training = spec.attrs.b("is_training"),
          .factor = has("exponential_avg_factor") ? spec.attrs.f("exponential_avg_factor") : 1.0,
          .side = has("num_side_inputs") && spec.attrs.i("num_side_inputs") == 1,
          .relu = has("activation_mode") && spec.attrs.s("activation_mode") == "Relu"};
}

// The value before side input and activation. It uses fma explicitly, so that the backward kernel,
// which computes it again, gets the same rounding.
inline float Normalized(float x, float mean, float a, float offset) {
  return std::fma(x - mean, a, offset);
}

// Channels [begin, end).
struct Channels {
  int64_t begin = 0, end = 0;
};
Channels AllOf(const ChannelPlanes& planes) { return {0, planes.channels()}; }
Channels BlockOf(const ChannelPlanes& planes, int64_t block) {
  return {block * planes.width, (block + 1) * planes.width};
}

// a[c] = scale / sqrt(variance + epsilon).
void Slopes(const Norm& norm, const float* scale, const float* variance, const Channels& channels,
            float* a) {
  for (int64_t c = channels.begin; c < channels.end; ++c) {
    a[c] = static_cast<float>(static_cast<double>(scale[c]) /
                              std::sqrt(static_cast<double>(variance[c]) + norm.epsilon));
  }
}

// Adds x - shift and its square for the rows [begin, end).
template <int64_t kWidth>
void AddMoments(const float* x, const float* shift, int64_t begin, int64_t end, int64_t width,
                float* sums) {
  if constexpr (kWidth == kNormWidth) {
    return AddMomentRows(x + begin * kWidth, end - begin, shift, sums);
  }
  const int64_t w = kWidth == 0 ? width : kWidth;
  float* const squares = sums + w;
  for (int64_t r = begin; r < end; ++r) {
    const float* const row = x + r * w;
#pragma omp simd
    for (int64_t c = 0; c < w; ++c) {
      const float d = row[c] - shift[c];
      sums[c] += d;
      squares[c] += d * d;
    }
  }
}

// An approximate mean of each channel of a block, from a few rows of all parts of x. With moments
// about it, one pass is enough, and no accuracy is lost if the mean is large.
void RoughMeans(const ChannelPlanes& planes, const float* x, int64_t block, float* means) {
  constexpr int64_t kSamples = 64;
  const int64_t samples = std::min(kSamples, planes.count());
  float* const mean = means + block * planes.width;
  std::fill(mean, mean + planes.width, 0.0f);
  for (int64_t s = 0; s < samples; ++s) {
    const int64_t at = planes.count() * s / samples;  // image * rows + row
    const int64_t plane = at / planes.rows * planes.blocks + block;
    const float* const row = x + (plane * planes.rows + at % planes.rows) * planes.width;
    for (int64_t c = 0; c < planes.width; ++c) mean[c] += row[c] / static_cast<float>(samples);
  }
}

// Writes batch_mean, batch_variance (with Bessel's correction) and the moments for the backward op
// from the sums about the rough means.
void WriteMoments(const Norm& norm, const ChannelSums<2>& sums, const float* rough,
                  const Channels& channels, const KernelArgs& args) {
  const double *const sum = sums.total(args.scratch), *const squares = sums.total(args.scratch, 1);
  const double count = static_cast<double>(norm.planes.count());
  const double correction = count / std::max(count - 1, 1.0);
  for (int64_t c = channels.begin; c < channels.end; ++c) {
    const double off = sum[c] / count;
    const double mean = static_cast<double>(rough[c]) + off;
    const double variance = std::max(squares[c] / count - off * off, 0.0);
    args.out<float>(3)[c] = static_cast<float>(mean);
    args.out<float>(4)[c] = static_cast<float>(variance);
    double new_mean = mean, new_variance = variance * correction;
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

// The second pass, over the rows [begin, end) of a plane whose first channel is `first`.
template <int64_t kWidth, bool kSide, bool kRelu>
void Normalize(const Norm& norm, const float* slopes, int64_t begin, int64_t end, int64_t first,
               const KernelArgs& args) {
  const int64_t w = kWidth == 0 ? norm.planes.width : kWidth;
  const float *const mean = args.out<float>(3) + first, *const a = slopes + first,
                     *const offset = args.in<float>(2) + first;
  const float *const x = args.in<float>(0), *const side = kSide ? args.in<float>(5) : nullptr;
  float* const y = args.out<float>(0);
  if constexpr (kWidth == kNormWidth) {
    return NormalizeRows(x + begin * w, kSide ? side + begin * w : nullptr, end - begin, mean, a,
                         offset, kRelu, y + begin * w);
  }
  for (int64_t e = begin * w; e < end * w; e += w) {
#pragma omp simd
    for (int64_t c = 0; c < w; ++c) {
      float value = Normalized(x[e + c], mean[c], a[c], offset[c]);
      if (kSide) value += side[e + c];
      y[e + c] = kRelu && value < 0 ? 0.0f : value;  // NaN stays NaN, as in Relu
    }
  }
}

// The first row of a block in the last image first.
template <typename Fn>
void ForEachImageBackward(const ChannelPlanes& planes, int64_t block, Fn&& fn) {
  for (int64_t image = planes.images; image-- > 0;) {
    const int64_t first = (image * planes.blocks + block) * planes.rows;
    fn(first, first + planes.rows, block * planes.width);
  }
}

template <int64_t kWidth, bool kSide, bool kRelu>
void RunForward(const Norm& norm, const ChannelSums<2>& sums, float* a, const KernelArgs& args) {
  const ChannelPlanes& p = norm.planes;
  const float* const x = args.in<float>(0);
  // The rough means are in `a` until the slopes replace them.
  const auto add = [&](int64_t begin, int64_t end, int64_t channel, float* run) {
    AddMoments<kWidth>(x, a + channel, begin, end, p.width, run);
  };
  const auto normalize = [&](int64_t first, int64_t last, int64_t channel) {
    Normalize<kWidth, kSide, kRelu>(norm, a, first, last, channel, args);
  };
  const auto finish = [&](const Channels& channels) {
    if (norm.is_training) WriteMoments(norm, sums, a, channels, args);
    Slopes(norm, args.in<float>(1), args.out<float>(4), channels, a);
  };
  const Chunks blocks = sums.blocks();
  if (norm.is_training && blocks.items > 0) {
    ParallelFor(blocks, [&](int chunk, int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        RoughMeans(p, x, block, a);
        sums.RunBlock(args.scratch, chunk, block, add);
        finish(BlockOf(p, block));
        ForEachImageBackward(p, block, normalize);
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
    ChannelSums<1>::ForEachPiece(p, begin, end, p.rows, normalize);
  });
}

std::unique_ptr<Kernel> MakeBatchNorm(const KernelSpec& spec) {
  const Norm norm = NormOf(spec, spec.inputs[0]);
  if (!norm.ok() || spec.inputs.size() != (norm.side ? 6u : 5u)) return nullptr;
  if (norm.side && !(spec.inputs[5] == spec.outputs[0])) return nullptr;
  const ChannelSums<2> sums(norm.planes);
  const size_t sums_bytes = (sums.bytes() + 63) / 64 * 64;
  const int64_t channels = norm.planes.channels();
  return MakeFusedKernel(
      [norm, sums, sums_bytes](const KernelArgs& args) {
        float* const a = reinterpret_cast<float*>(static_cast<char*>(args.scratch) + sums_bytes);
        WithWidth(norm.planes.width, [&](auto width) {
          const auto run =
              norm.side
                  ? (norm.relu ? RunForward<width(), true, true> : RunForward<width(), true, false>)
                  : (norm.relu ? RunForward<width(), false, true>
                               : RunForward<width(), false, false>);
          run(norm, sums, a, args);
        });
        return absl::OkStatus();
      },
      {.scratch_bytes = sums_bytes + static_cast<size_t>(channels) * sizeof(float),
       .alias_input = norm.side ? 5 : 0});
}

// The operands of a gradient kernel.
struct Backward : NormGradientRows {
  float* dside;  // null if there is no side input

  // Those from row `begin` of a plane on, whose first channel is `first`.
  NormGradientRows From(int64_t begin, int64_t first) const {
    const int64_t e = begin * kNormWidth;
    return {.dy = dy + e,
            .x = x + e,
            .y = y == nullptr ? nullptr : y + e,
            .mean = mean + first,
            .a = a + first,
            .offset = offset == nullptr ? nullptr : offset + first};
  }
};

template <Gate kGate>
inline float Gradient(const Backward& in, int64_t e, int64_t channel) {
  if (kGate == Gate::kOpen) return in.dy[e];
  const float y = kGate == Gate::kByY
                      ? in.y[e]
                      : Normalized(in.x[e], in.mean[channel], in.a[channel], in.offset[channel]);
  return y > 0 ? in.dy[e] : 0.0f;
}

// Adds the gradients of the rows [begin, end), and the gradients times x - mean.
template <int64_t kWidth, Gate kGate>
void AddGradients(const Backward& in, int64_t begin, int64_t end, int64_t first, int64_t width,
                  float* sums) {
  if constexpr (kWidth == kNormWidth) {
    return AddGradientRows(kGate, in.From(begin, first), end - begin, sums);
  }
  const int64_t w = kWidth == 0 ? width : kWidth;
  float* const sums_x = sums + w;
  const float* const mean = in.mean + first;
  for (int64_t e = begin * w; e < end * w; e += w) {
#pragma omp simd
    for (int64_t c = 0; c < w; ++c) {
      const float g = Gradient<kGate>(in, e + c, first + c);
      sums[c] += g;
      sums_x[c] += g * (in.x[e + c] - mean[c]);
    }
  }
}

// dx = a * g + b * (x - mean) + d.
struct Slope {
  const float *a, *b, *d;
};

template <int64_t kWidth, Gate kGate>
void GradientRows(const Backward& in, const Slope& slope, int64_t begin, int64_t end, int64_t first,
                  int64_t width, float* dx) {
  const int64_t w = kWidth == 0 ? width : kWidth;
  const float *const mean = in.mean + first, *const a = slope.a + first, *const b = slope.b + first,
                     *const d = slope.d + first;
  if constexpr (kWidth == kNormWidth) {
    return WriteGradientRows(kGate, in.From(begin, first), end - begin, a, b, d, dx + begin * w,
                             in.dside == nullptr ? nullptr : in.dside + begin * w);
  }
  for (int64_t e = begin * w; e < end * w; e += w) {
    if (in.dside != nullptr) {  // first, because dx may overwrite dy
#pragma omp simd
      for (int64_t c = 0; c < w; ++c) in.dside[e + c] = Gradient<kGate>(in, e + c, first + c);
    }
#pragma omp simd
    for (int64_t c = 0; c < w; ++c) {
      const float g = Gradient<kGate>(in, e + c, first + c);
      dx[e + c] = a[c] * g + b[c] * (in.x[e + c] - mean[c]) + d[c];
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

template <int64_t kWidth, Gate kGate>
void RunBackward(const Norm& norm, const ChannelSums<2>& sums, float* slopes,
                 const KernelArgs& args) {
  const ChannelPlanes& p = norm.planes;
  float *const a = slopes, *const b = a + p.channels(), *const d = b + p.channels();
  Slopes(norm, args.in<float>(2), args.in<float>(4), AllOf(p), a);
  const Backward in{{.dy = args.in<float>(0),
                     .x = args.in<float>(1),
                     .y = kGate == Gate::kByY ? args.in<float>(7) : nullptr,
                     .mean = args.in<float>(3),
                     .a = a,
                     .offset = kGate == Gate::kFoundAgain ? args.in<float>(6) : nullptr},
                    norm.side ? args.out<float>(5) : nullptr};
  const auto add = [&](int64_t begin, int64_t end, int64_t channel, float* run) {
    AddGradients<kWidth, kGate>(in, begin, end, channel, p.width, run);
  };
  const auto write = [&](int64_t first, int64_t last, int64_t channel) {
    GradientRows<kWidth, kGate>(in, {a, b, d}, first, last, channel, p.width, args.out<float>(0));
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

std::unique_ptr<Kernel> MakeBatchNormGrad(const KernelSpec& spec) {
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
          const auto run = !norm.relu  ? RunBackward<width(), Gate::kOpen>
                           : norm.side ? RunBackward<width(), Gate::kByY>
                                       : RunBackward<width(), Gate::kFoundAgain>;
          run(norm, sums, slopes, args);
        });
        return absl::OkStatus();
      },
      {.scratch_bytes = sums_bytes + slopes * sizeof(float), .alias_input = 0});
}

EST_REGISTER_KERNEL("FusedBatchNormV3", KernelTier::kFused, MakeBatchNorm);
EST_REGISTER_KERNEL("_FusedBatchNormEx", KernelTier::kFused, MakeBatchNorm);
EST_REGISTER_KERNEL("FusedBatchNormGradV3", KernelTier::kFused, MakeBatchNormGrad);
EST_REGISTER_KERNEL("_FusedBatchNormGradEx", KernelTier::kFused, MakeBatchNormGrad);

}  // namespace
}  // namespace estimator::fused
