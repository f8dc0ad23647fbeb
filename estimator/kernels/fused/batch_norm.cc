// FusedBatchNormV3 and its gradient in f32, per channel of the last axis, on all threads. Formulas
// as in the reference tier (TF 2.15 fused_batch_norm_op.cc); the variance is the mean square
// distance from the mean, in a second pass, so that a large mean costs no accuracy.
#include <cmath>
#include <cstdint>
#include <memory>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/sums.h"
#include "estimator/kernels/kernel.h"

namespace estimator::fused {
namespace {

struct Sizes {
  int64_t rows = 0;
  int64_t channels = 0;  // 0: not for this tier
  double epsilon = 0;
  bool is_training = false;
};

Sizes SizesOf(const KernelSpec& spec, const TensorSpec& x) {
  if (x.dtype != DType::kFloat32 || x.shape.rank() < 2 || x.shape.num_elements() == 0) return {};
  if (spec.attrs.has("data_format") && spec.attrs.s("data_format") != "NHWC") return {};
  const int64_t channels = x.shape[-1];
  return {.rows = x.shape.num_elements() / channels,
          .channels = channels,
          .epsilon = spec.attrs.f("epsilon"),
          .is_training = spec.attrs.b("is_training")};
}

// Writes batch_mean, batch_variance (with Bessel's correction) and the saved moments.
void Moments(const Sizes& s, double factor, const ColumnSums<1>& sums, const KernelArgs& args) {
  const float* const x = args.in<float>(0);
  float *const mean = args.out<float>(3), *const variance = args.out<float>(4);
  sums.Run(args.scratch, [&](int64_t row, float* run) {
    const float* const values = x + row * s.channels;
#pragma omp simd
    for (int64_t c = 0; c < s.channels; ++c) run[c] += values[c];
  });
  const double* const total = sums.total(args.scratch);
  const double count = static_cast<double>(s.rows);
  for (int64_t c = 0; c < s.channels; ++c) mean[c] = static_cast<float>(total[c] / count);
  sums.Run(args.scratch, [&](int64_t row, float* run) {
    const float* const values = x + row * s.channels;
#pragma omp simd
    for (int64_t c = 0; c < s.channels; ++c) {
      const float d = values[c] - mean[c];
      run[c] += d * d;
    }
  });
  const double correction = count / std::max(count - 1, 1.0);
  for (int64_t c = 0; c < s.channels; ++c) {
    variance[c] = static_cast<float>(total[c] / count);
    double new_mean = mean[c], new_variance = total[c] / count * correction;
    if (factor != 1) {
      new_mean = (1 - factor) * static_cast<double>(args.in<float>(3)[c]) + factor * new_mean;
      new_variance =
          (1 - factor) * static_cast<double>(args.in<float>(4)[c]) + factor * new_variance;
    }
    args.out<float>(1)[c] = static_cast<float>(new_mean);
    args.out<float>(2)[c] = static_cast<float>(new_variance);
  }
}

std::unique_ptr<Kernel> MakeBatchNorm(const KernelSpec& spec) {
  const Sizes s = SizesOf(spec, spec.inputs[0]);
  if (s.channels == 0) return nullptr;
  const double factor =
      spec.attrs.has("exponential_avg_factor") ? spec.attrs.f("exponential_avg_factor") : 1.0;
  const ColumnSums<1> sums(s.rows, s.channels);
  const size_t affine_floats = static_cast<size_t>(2 * s.channels);
  const size_t sums_bytes = (sums.bytes() + 63) / 64 * 64;
  return MakeFusedKernel(
      [s, factor, sums, sums_bytes](const KernelArgs& args) {
        if (s.is_training) {
          Moments(s, factor, sums, args);
        } else {
          for (int64_t c = 0; c < s.channels; ++c) {
            args.out<float>(1)[c] = args.out<float>(3)[c] = args.in<float>(3)[c];
            args.out<float>(2)[c] = args.out<float>(4)[c] = args.in<float>(4)[c];
          }
        }
        // y = (x - mean) * a + offset.
        float* const a = reinterpret_cast<float*>(static_cast<char*>(args.scratch) + sums_bytes);
        const float *const mean = args.out<float>(3), *const variance = args.out<float>(4);
        for (int64_t c = 0; c < s.channels; ++c) {
          a[c] = static_cast<float>(args.in<float>(1)[c] /
                                    std::sqrt(static_cast<double>(variance[c]) + s.epsilon));
        }
        ParallelFor(sums.chunks(), [&](int, int64_t begin, int64_t end) {
          const float* const offset = args.in<float>(2);
          for (int64_t r = begin; r < end; ++r) {
            const float* const x = args.in<float>(0) + r * s.channels;
            float* const y = args.out<float>(0) + r * s.channels;
#pragma omp simd
            for (int64_t c = 0; c < s.channels; ++c) y[c] = (x[c] - mean[c]) * a[c] + offset[c];
          }
        });
        return absl::OkStatus();
      },
      {.scratch_bytes = sums_bytes + affine_floats * sizeof(float)});
}

// Inputs dy, x, scale, mean, variance (saved); outputs dx, d_scale, d_offset.
//   d_offset = sum dy;  d_scale = sum dy * z, z = (x - mean) / sqrt(variance + epsilon)
//   training: dx = scale / sqrt(variance + epsilon) * (dy - mean(dy) - z * mean(dy * z)); else
//   without means
std::unique_ptr<Kernel> MakeBatchNormGrad(const KernelSpec& spec) {
  const Sizes s = SizesOf(spec, spec.inputs[1]);
  if (s.channels == 0) return nullptr;
  const ColumnSums<2> sums(s.rows, s.channels);
  const size_t sums_bytes = (sums.bytes() + 63) / 64 * 64;
  return MakeFusedKernel(
      [s, sums, sums_bytes](const KernelArgs& args) {
        const float *const dy = args.in<float>(0), *const x = args.in<float>(1);
        const float *const mean = args.in<float>(3), *const variance = args.in<float>(4);
        sums.Run(args.scratch, [&](int64_t row, float* run) {
          const float *const g = dy + row * s.channels, *const values = x + row * s.channels;
          float* const run_x = run + s.channels;
#pragma omp simd
          for (int64_t c = 0; c < s.channels; ++c) {
            run[c] += g[c];
            run_x[c] += g[c] * (values[c] - mean[c]);
          }
        });
        const double *const sum = sums.total(args.scratch), *const sum_x =
                                                                sums.total(args.scratch, 1);
        // dx = a * dy + b * (x - mean) + d.
        float* const a = reinterpret_cast<float*>(static_cast<char*>(args.scratch) + sums_bytes);
        float *const b = a + s.channels, *const d = b + s.channels;
        const double share = s.is_training ? 1 / static_cast<double>(s.rows) : 0;
        for (int64_t c = 0; c < s.channels; ++c) {
          const double inverse = 1 / std::sqrt(static_cast<double>(variance[c]) + s.epsilon);
          const double slope = static_cast<double>(args.in<float>(2)[c]) * inverse;
          args.out<float>(1)[c] = static_cast<float>(sum_x[c] * inverse);
          args.out<float>(2)[c] = static_cast<float>(sum[c]);
          a[c] = static_cast<float>(slope);
          b[c] = static_cast<float>(-slope * share * inverse * inverse * sum_x[c]);
          d[c] = static_cast<float>(-slope * share * sum[c]);
        }
        ParallelFor(sums.chunks(), [&](int, int64_t begin, int64_t end) {
          for (int64_t r = begin; r < end; ++r) {
            const float *const g = dy + r * s.channels, *const values = x + r * s.channels;
            float* const dx = args.out<float>(0) + r * s.channels;
#pragma omp simd
            for (int64_t c = 0; c < s.channels; ++c)
              dx[c] = a[c] * g[c] + b[c] * (values[c] - mean[c]) + d[c];
          }
        });
        return absl::OkStatus();
      },
      {.scratch_bytes = sums_bytes + static_cast<size_t>(3 * s.channels) * sizeof(float)});
}

EST_REGISTER_KERNEL("FusedBatchNormV3", KernelTier::kFused, MakeBatchNorm);
EST_REGISTER_KERNEL("FusedBatchNormGradV3", KernelTier::kFused, MakeBatchNormGrad);

}  // namespace
}  // namespace estimator::fused
