// Normalization: batch normalization, layer normalization and L2 normalization.
#ifndef ESTIMATOR_OPS_BATCH_NORM_H_
#define ESTIMATOR_OPS_BATCH_NORM_H_

#include <string>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"
#include "estimator/ops/reduction.h"

namespace estimator {

struct FusedBatchNormOptions {
  // [C], in f32. Needed for inference, and in training with exponential_avg_factor below 1.
  Tensor mean = {};
  Tensor variance = {};
  float epsilon = 1e-3f;
  bool is_training = true;
  // Training: batch_mean = (1 - factor) * mean + factor * (mean of the batch), and batch_variance
  // likewise. 1 gives the moments of the batch alone.
  float exponential_avg_factor = 1;
  std::string name = "";
};

struct FusedBatchNormOutputs {
  Tensor y;
  // Training: the moments of the batch, for moving averages; the variance has Bessel's correction
  // N / (N - 1). Inference: the mean and variance that were given.
  Tensor batch_mean;
  Tensor batch_variance;
};

// (x - mean) / sqrt(variance + epsilon) * scale + offset, per channel. In training, mean and
// variance are those of the batch, over all axes but the last.
//   x: [..., C].  scale, offset: [C], f32 if x is f32, bf16 or f16.
// Errors: INVALID_ARGUMENT if sizes or types differ, or if inference lacks options.mean or
// options.variance.
// Source: TF 2.15 tf.compat.v1.nn.fused_batch_norm, FusedBatchNormV3; here for any rank from 2.
FusedBatchNormOutputs FusedBatchNorm(const Tensor& x, const Tensor& scale, const Tensor& offset,
                                     const FusedBatchNormOptions& options = {});

// The same formula for any mean and variance, built from several ops; gradients flow to all inputs.
//   mean, variance: must broadcast to x.  offset, scale: may be left out ({}).
// Source: TF 2.15 tf.nn.batch_normalization.
Tensor BatchNormalization(const Tensor& x, const Tensor& mean, const Tensor& variance,
                          const Tensor& offset, const Tensor& scale, float epsilon,
                          StringArg name = "batchnorm");

// (x - mean) / sqrt(variance + epsilon) * gamma + beta, where mean and variance are those of each
// row along the last axis.
//   x: [..., C].  gamma, beta: [C].
// Source: Ba et al. 2016; tf.keras.layers.LayerNormalization.
Tensor LayerNorm(const Tensor& x, const Tensor& gamma, const Tensor& beta, float epsilon = 1e-12f,
                 StringArg name = "LayerNorm");

struct L2NormalizeOptions {
  float epsilon = 1e-12f;
  std::string name = "l2_normalize";
};
// x / sqrt(max(sum(x^2), epsilon)), where the sum is over `axes`.
// Source: TF 2.15 tf.math.l2_normalize.
Tensor L2Normalize(const Tensor& x, const ReduceAxes& axes, const L2NormalizeOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_OPS_BATCH_NORM_H_
