// FusedBatchNormV3 and its gradient. The channels are the last axis of x; moments are over all
// others.
//   training:   mean, var = moments of x;  y = (x - mean) / sqrt(var + epsilon) * scale + offset
//   inference:  the same with the given mean and variance
// Sums are computed in float64. Formulas: TF 2.15 fused_batch_norm_op.cc (CPU).
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/reference/accumulate.h"

namespace estimator {
namespace {

struct Sizes {
  int64_t rows = 0;
  int64_t channels = 0;
  double epsilon = 0;
  bool is_training = false;
  double factor = 1;  // exponential_avg_factor
};

Sizes SizesOf(const KernelSpec& spec, int x) {
  const Shape& shape = spec.inputs[static_cast<size_t>(x)].shape;
  const int64_t channels = shape.dim(-1);
  return {.rows = channels == 0 ? 0 : shape.num_elements() / channels,
          .channels = channels,
          .epsilon = spec.attrs.f("epsilon"),
          .is_training = spec.attrs.b("is_training")};
}

// U is the type of scale, offset and moments: the type of x, or float32 if x has 16 bits.
template <typename T, typename U = Accumulator<T>>
void Forward(const Sizes& s, const KernelArgs& args) {
  const T* const x = args.in<T>(0);
  const U *const scale = args.in<U>(1), *const offset = args.in<U>(2);
  U *const batch_mean = args.out<U>(1), *const batch_variance = args.out<U>(2);
  U *const saved_mean = args.out<U>(3), *const saved_variance = args.out<U>(4);
  double* const mean = static_cast<double*>(args.scratch);
  double* const variance = mean + s.channels;
  if (s.is_training) {
    // An empty batch gives moments of 0 instead of NaN.
    const double count = static_cast<double>(std::max<int64_t>(s.rows, 1));
    std::fill(mean, mean + 2 * s.channels, 0.0);
    for (int64_t r = 0; r < s.rows; ++r) {
      for (int64_t c = 0; c < s.channels; ++c)
        mean[c] += static_cast<double>(x[r * s.channels + c]);
    }
    for (int64_t c = 0; c < s.channels; ++c) mean[c] /= count;
    // A second pass over the differences loses no accuracy if the mean is large.
    for (int64_t r = 0; r < s.rows; ++r) {
      for (int64_t c = 0; c < s.channels; ++c) {
        const double d = static_cast<double>(x[r * s.channels + c]) - mean[c];
        variance[c] += d * d;
      }
    }
    for (int64_t c = 0; c < s.channels; ++c) variance[c] /= count;
    // Only batch_variance gets Bessel's correction, because it is for the moving average.
    const double correction = count / std::max(count - 1, 1.0);
    for (int64_t c = 0; c < s.channels; ++c) {
      double new_mean = mean[c], new_variance = variance[c] * correction;
      // With a factor of 1 in training, the inputs mean and variance may be empty, so they are not
      // read.
      if (s.factor != 1) {
        new_mean = (1 - s.factor) * static_cast<double>(args.in<U>(3)[c]) + s.factor * new_mean;
        new_variance =
            (1 - s.factor) * static_cast<double>(args.in<U>(4)[c]) + s.factor * new_variance;
      }
      batch_mean[c] = static_cast<U>(new_mean);
      batch_variance[c] = static_cast<U>(new_variance);
    }
  } else {
    for (int64_t c = 0; c < s.channels; ++c) {
      mean[c] = static_cast<double>(args.in<U>(3)[c]);
      variance[c] = static_cast<double>(args.in<U>(4)[c]);
      batch_mean[c] = args.in<U>(3)[c];
      batch_variance[c] = args.in<U>(4)[c];
    }
  }
  for (int64_t c = 0; c < s.channels; ++c) {
    saved_mean[c] = static_cast<U>(mean[c]);
    saved_variance[c] = static_cast<U>(variance[c]);
  }
  T* const y = args.out<T>(0);
  for (int64_t c = 0; c < s.channels; ++c) variance[c] = 1 / std::sqrt(variance[c] + s.epsilon);
  for (int64_t r = 0; r < s.rows; ++r) {
    for (int64_t c = 0; c < s.channels; ++c) {
      const int64_t e = r * s.channels + c;
      const double normal = (static_cast<double>(x[e]) - mean[c]) * variance[c];
      y[e] = static_cast<T>(
          static_cast<U>(normal * static_cast<double>(scale[c]) + static_cast<double>(offset[c])));
    }
  }
}

// With z = (x - mean) / sqrt(var + epsilon), over the rows of a channel:
//   d_offset = sum dy
//   d_scale  = sum dy * z
//   training:   d_x = scale / sqrt(var + epsilon) * (dy - mean(dy) - z * mean(dy * z))
//   inference:  d_x = scale / sqrt(var + epsilon) * dy
template <typename T, typename U = Accumulator<T>>
void Backward(const Sizes& s, const KernelArgs& args) {
  const T *const dy = args.in<T>(0), *const x = args.in<T>(1);
  const U *const scale = args.in<U>(2), *const mean = args.in<U>(3),
                 *const variance = args.in<U>(4);
  double* const sum = static_cast<double*>(args.scratch);
  double* const sum_z = sum + s.channels;
  double* const inverse = sum_z + s.channels;
  std::fill(sum, sum + 2 * s.channels, 0.0);
  for (int64_t c = 0; c < s.channels; ++c) {
    inverse[c] = 1 / std::sqrt(static_cast<double>(variance[c]) + s.epsilon);
  }
  for (int64_t r = 0; r < s.rows; ++r) {
    for (int64_t c = 0; c < s.channels; ++c) {
      const int64_t e = r * s.channels + c;
      const double gradient = static_cast<double>(dy[e]);
      sum[c] += gradient;
      sum_z[c] +=
          gradient * (static_cast<double>(x[e]) - static_cast<double>(mean[c])) * inverse[c];
    }
  }
  for (int64_t c = 0; c < s.channels; ++c) {
    args.out<U>(1)[c] = static_cast<U>(sum_z[c]);
    args.out<U>(2)[c] = static_cast<U>(sum[c]);
  }
  // In inference mean and variance do not depend on x, so the gradient has no share of the sums.
  const double share = s.is_training ? 1 / static_cast<double>(std::max<int64_t>(s.rows, 1)) : 0;
  T* const dx = args.out<T>(0);
  for (int64_t r = 0; r < s.rows; ++r) {
    for (int64_t c = 0; c < s.channels; ++c) {
      const int64_t e = r * s.channels + c;
      const double z = (static_cast<double>(x[e]) - static_cast<double>(mean[c])) * inverse[c];
      const double d = static_cast<double>(dy[e]) - share * (sum[c] + z * sum_z[c]);
      dx[e] = static_cast<T>(static_cast<U>(static_cast<double>(scale[c]) * inverse[c] * d));
    }
  }
}

KernelPlan MakeBatchNorm(const KernelSpec& spec) {
  if (IsBlocked(spec.attrs)) return nullptr;
  Sizes sizes = SizesOf(spec, 0);
  sizes.factor = spec.attrs.f("exponential_avg_factor");
  return VisitFloating(spec.inputs[0].dtype, [&](auto tag) {
    return MakeKernel([sizes](const KernelArgs& args) { Forward<decltype(tag)>(sizes, args); },
                      static_cast<size_t>(2 * sizes.channels) * sizeof(double));
  });
}

KernelPlan MakeBatchNormGrad(const KernelSpec& spec) {
  if (IsBlocked(spec.attrs)) return nullptr;
  const Sizes sizes = SizesOf(spec, 1);
  return VisitFloating(spec.inputs[1].dtype, [&](auto tag) {
    return MakeKernel([sizes](const KernelArgs& args) { Backward<decltype(tag)>(sizes, args); },
                      static_cast<size_t>(3 * sizes.channels) * sizeof(double));
  });
}

EST_REGISTER_KERNEL("FusedBatchNormV3", KernelTier::kReference, MakeBatchNorm);
EST_REGISTER_KERNEL("FusedBatchNormGradV3", KernelTier::kReference, MakeBatchNormGrad);

}  // namespace
}  // namespace estimator
