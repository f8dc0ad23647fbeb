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
// Source of the names: TF 2.15 nn_ops.cc.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

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

// a[c] = scale / sqrt(variance + epsilon).
void Slopes(const Norm& norm, const float* scale, const float* variance, float* a) {
  for (int64_t c = 0; c < norm.planes.channels(); ++c) {
    a[c] = static_cast<float>(static_cast<double>(scale[c]) /
                              std::sqrt(static_cast<double>(variance[c]) + norm.epsilon));
  }
}

// Adds x - shift and its square for the rows [begin, end).
template <int64_t kWidth>
void AddMoments(const float* x, const float* shift, int64_t begin, int64_t end, int64_t width,
                float* sums) {
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

// An approximate mean of each channel, from a few rows of all parts of x. With moments about it,
// one pass is enough, and no accuracy is lost if the mean is large.
void RoughMeans(const ChannelPlanes& planes, const float* x, float* means) {
  constexpr int64_t kSamples = 64;
  for (int64_t block = 0; block < planes.blocks; ++block) {
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
}

// Writes batch_mean, batch_variance (with Bessel's correction) and the moments for the backward op.
void Moments(const Norm& norm, const ChannelSums<2>& sums, float* rough, const KernelArgs& args) {
  const ChannelPlanes& p = norm.planes;
  const float* const x = args.in<float>(0);
  RoughMeans(p, x, rough);
  WithWidth(p.width, [&](auto width) {
    sums.Run(args.scratch, [&](int64_t begin, int64_t end, int64_t channel, float* run) {
      AddMoments<width()>(x, rough + channel, begin, end, p.width, run);
    });
  });
  const double *const sum = sums.total(args.scratch), *const squares = sums.total(args.scratch, 1);
  const double count = static_cast<double>(p.count());
  const double correction = count / std::max(count - 1, 1.0);
  for (int64_t c = 0; c < p.channels(); ++c) {
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

// The parameters of a pass over rows, from the first channel of a piece on.
struct Affine {
  const float *mean, *a, *offset;
};

template <int64_t kWidth, bool kSide, bool kRelu>
void NormalizeRows(const Affine& affine, const float* x, const float* side, float* y, int64_t begin,
                   int64_t end, int64_t width) {
  const int64_t w = kWidth == 0 ? width : kWidth;
  const float *const mean = affine.mean, *const a = affine.a, *const offset = affine.offset;
  for (int64_t e = begin * w; e < end * w; e += w) {
#pragma omp simd
    for (int64_t c = 0; c < w; ++c) {
      float value = Normalized(x[e + c], mean[c], a[c], offset[c]);
      if (kSide) value += side[e + c];
      y[e + c] = kRelu && value < 0 ? 0.0f : value;  // NaN stays NaN, as in Relu
    }
  }
}

template <bool kSide, bool kRelu>
void Normalize(const Norm& norm, const Chunks& chunks, const float* a, const KernelArgs& args) {
  const ChannelPlanes& p = norm.planes;
  WithWidth(p.width, [&](auto width) {
    ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
      ChannelSums<1>::ForEachPiece(
          p, begin, end, p.rows, [&](int64_t first, int64_t last, int64_t c) {
            NormalizeRows<width(), kSide, kRelu>(
                {args.out<float>(3) + c, a + c, args.in<float>(2) + c}, args.in<float>(0),
                kSide ? args.in<float>(5) : nullptr, args.out<float>(0), first, last, p.width);
          });
    });
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
      [norm, sums, sums_bytes, channels](const KernelArgs& args) {
        float* const a = reinterpret_cast<float*>(static_cast<char*>(args.scratch) + sums_bytes);
        if (norm.is_training) {
          Moments(norm, sums, a, args);
        } else {
          for (int64_t c = 0; c < channels; ++c) {
            args.out<float>(1)[c] = args.out<float>(3)[c] = args.in<float>(3)[c];
            args.out<float>(2)[c] = args.out<float>(4)[c] = args.in<float>(4)[c];
          }
        }
        Slopes(norm, args.in<float>(1), args.out<float>(4), a);
        const auto run = norm.side ? (norm.relu ? Normalize<true, true> : Normalize<true, false>)
                                   : (norm.relu ? Normalize<false, true> : Normalize<false, false>);
        run(norm, sums.chunks(), a, args);
        return absl::OkStatus();
      },
      {.scratch_bytes = sums_bytes + static_cast<size_t>(channels) * sizeof(float)});
}

// The operands of a gradient kernel.
struct Backward {
  const float *dy, *x, *y;         // y: null if it is computed again
  const float *mean, *a, *offset;  // a, offset: for computing y again
  float* dside;                    // null if there is no side input
};

// How the gradient of relu is decided: there is no relu, by y, or by y computed again from x.
enum class Gate { kOpen, kByY, kFoundAgain };

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
  for (int64_t e = begin * w; e < end * w; e += w) {
#pragma omp simd
    for (int64_t c = 0; c < w; ++c) {
      const float g = Gradient<kGate>(in, e + c, first + c);
      dx[e + c] = a[c] * g + b[c] * (in.x[e + c] - mean[c]) + d[c];
    }
    if (in.dside == nullptr) continue;
#pragma omp simd
    for (int64_t c = 0; c < w; ++c) in.dside[e + c] = Gradient<kGate>(in, e + c, first + c);
  }
}

//   d_offset = sum g
//   d_scale  = sum g * z,  z = (x - mean) / sqrt(variance + epsilon)
//   training:   dx = scale / sqrt(variance + epsilon) * (g - mean(g) - z * mean(g * z))
//   inference:  dx = scale / sqrt(variance + epsilon) * g
template <Gate kGate>
void RunBackward(const Norm& norm, const ChannelSums<2>& sums, float* slopes,
                 const KernelArgs& args) {
  const ChannelPlanes& p = norm.planes;
  const int64_t channels = p.channels();
  float *const a = slopes, *const b = a + channels, *const d = b + channels;
  Slopes(norm, args.in<float>(2), args.in<float>(4), a);
  const Backward in{.dy = args.in<float>(0),
                    .x = args.in<float>(1),
                    .y = kGate == Gate::kByY ? args.in<float>(7) : nullptr,
                    .mean = args.in<float>(3),
                    .a = a,
                    .offset = kGate == Gate::kFoundAgain ? args.in<float>(6) : nullptr,
                    .dside = norm.side ? args.out<float>(5) : nullptr};
  WithWidth(p.width, [&](auto width) {
    sums.Run(args.scratch, [&](int64_t begin, int64_t end, int64_t channel, float* run) {
      AddGradients<width(), kGate>(in, begin, end, channel, p.width, run);
    });
    const double *const sum = sums.total(args.scratch), *const sum_x = sums.total(args.scratch, 1);
    const double share = norm.is_training ? 1 / static_cast<double>(p.count()) : 0;
    for (int64_t c = 0; c < channels; ++c) {
      const double inverse =
          1 / std::sqrt(static_cast<double>(args.in<float>(4)[c]) + norm.epsilon);
      const double slope = static_cast<double>(args.in<float>(2)[c]) * inverse;
      args.out<float>(1)[c] = static_cast<float>(sum_x[c] * inverse);
      args.out<float>(2)[c] = static_cast<float>(sum[c]);
      b[c] = static_cast<float>(-slope * share * inverse * inverse * sum_x[c]);
      d[c] = static_cast<float>(-slope * share * sum[c]);
    }
    ParallelFor(sums.chunks(), [&](int, int64_t begin, int64_t end) {
      ChannelSums<1>::ForEachPiece(
          p, begin, end, p.rows, [&](int64_t first, int64_t last, int64_t channel) {
            GradientRows<width(), kGate>(in, {a, b, d}, first, last, channel, p.width,
                                         args.out<float>(0));
          });
    });
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
        if (!norm.relu) {
          RunBackward<Gate::kOpen>(norm, sums, slopes, args);
        } else if (norm.side) {
          RunBackward<Gate::kByY>(norm, sums, slopes, args);
        } else {
          RunBackward<Gate::kFoundAgain>(norm, sums, slopes, args);
        }
        return absl::OkStatus();
      },
      {.scratch_bytes = sums_bytes + slopes * sizeof(float)});
}

EST_REGISTER_KERNEL("FusedBatchNormV3", KernelTier::kFused, MakeBatchNorm);
EST_REGISTER_KERNEL("_FusedBatchNormEx", KernelTier::kFused, MakeBatchNorm);
EST_REGISTER_KERNEL("FusedBatchNormGradV3", KernelTier::kFused, MakeBatchNormGrad);
EST_REGISTER_KERNEL("_FusedBatchNormGradEx", KernelTier::kFused, MakeBatchNormGrad);

}  // namespace
}  // namespace estimator::fused
