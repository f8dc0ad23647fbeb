// Normalization: batch norm, layer norm, L2.
#ifndef ESTIMATOR_OPS_BATCH_NORM_H_
#define ESTIMATOR_OPS_BATCH_NORM_H_

#include <string>

#include "absl/strings/string_view.h"
#include "estimator/graph/tensor.h"
#include "estimator/ops/reduction.h"

namespace estimator {

struct FusedBatchNormOptions {
  // [C], in f32. Needed for inference, and in training with exponential_avg_factor below 1.
  Tensor mean = {};
  Tensor variance = {};
  float epsilon = 1e-3f;
  bool is_training = true;
  // Training: batch_mean and batch_variance are (1 - factor) * given + factor * of the batch.
  float exponential_avg_factor = 1;
  std::string name = "";
};

struct FusedBatchNormOutputs {
  Tensor y;
  // Training: of the batch, the variance with Bessel's correction N / (N - 1): for moving averages.
  // Inference: as given.
  Tensor batch_mean;
  Tensor batch_variance;
};

// (x - mean) / sqrt(variance + epsilon) * scale + offset, per channel, over all axes but the last.
//   x: [..., C].  scale, offset: [C], f32 for x in f32, bf16 and f16.
// Errors: INVALID_ARGUMENT if sizes or types differ, or if inference has no mean and variance.
// Source: TF 2.15 tf.compat.v1.nn.fused_batch_norm, FusedBatchNormV3 (any rank from 2 on here).
FusedBatchNormOutputs FusedBatchNorm(const Tensor& x, const Tensor& scale, const Tensor& offset,
                                     const FusedBatchNormOptions& options = {});

// The same from any mean and variance, composed: gradients flow to all of them.
//   mean, variance: broadcast against x.  offset or scale may be left out.
// Source: TF 2.15 tf.nn.batch_normalization.
Tensor BatchNormalization(const Tensor& x, const Tensor& mean, const Tensor& variance,
                          const Tensor& offset, const Tensor& scale, float epsilon,
                          absl::string_view name = "batchnorm");

// (x - mean) / sqrt(variance + epsilon) * gamma + beta, moments of each row along the last axis.
//   x: [..., C].  gamma, beta: [C].  Source: Ba et al. 2016; tf.keras.layers.LayerNormalization.
Tensor LayerNorm(const Tensor& x, const Tensor& gamma, const Tensor& beta, float epsilon = 1e-12f,
                 absl::string_view name = "LayerNorm");

struct L2NormalizeOptions {
  float epsilon = 1e-12f;
  std::string name = "l2_normalize";
};
// x / sqrt(max(sum(x^2), epsilon)), sums over the axes.
// Source: TF 2.15 tf.math.l2_normalize.
Tensor L2Normalize(const Tensor& x, const ReduceAxes& axes, const L2NormalizeOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_OPS_BATCH_NORM_H_
