// Batch and layer normalization.
#ifndef ESTIMATOR_NN_LAYERS_NORMALIZATION_H_
#define ESTIMATOR_NN_LAYERS_NORMALIZATION_H_

#include <string>

#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"

namespace estimator::layers {

struct BatchNormalizationOptions {
  double momentum = 0.99;  // the share of the old moving average that a step keeps
  double epsilon = 1e-3;
  bool center = true;  // add beta
  bool scale = true;   // multiply by gamma
  // true: normalize with the statistics of the batch, and update the moving averages from them.
  // false: normalize with the moving averages. Pass mode == Mode::kTrain.
  bool training = false;
  Initializer beta_initializer = nullptr;             // none: zeros
  Initializer gamma_initializer = nullptr;            // none: ones
  Initializer moving_mean_initializer = nullptr;      // none: zeros
  Initializer moving_variance_initializer = nullptr;  // none: ones
  Regularizer beta_regularizer = nullptr;
  Regularizer gamma_regularizer = nullptr;
  bool trainable = true;
  std::string name = "";  // none: batch_normalization, batch_normalization_1, ...
};

// (x - mean) / sqrt(variance + epsilon) * gamma + beta, with statistics over all axes but the last.
//   x: [N, H, W, C] (one FusedBatchNormV3), or [N, ..., C].  Returns the type of x.
//   Variables: `<name>/gamma`, `beta`, `moving_mean`, `moving_variance`, each f32 [C].
// bf16 is computed in f32. The updates of the moving averages are added to graph.update_ops(),
// which every training step runs. For rank 4 the moving variance follows the batch's variance times
// n / (n - 1), with n = N * H * W, as in TensorFlow's fused op.
// Source: TF 2.15 tf.compat.v1.layers.batch_normalization.
Tensor BatchNormalization(const Tensor& x, const BatchNormalizationOptions& options = {});

struct LayerNormOptions {
  // Statistics are taken over this axis and all after it. BERT uses -1, the last axis alone.
  int begin_norm_axis = 1;
  double epsilon = 1e-12;
  bool center = true;  // add beta
  bool scale = true;   // multiply by gamma
  bool trainable = true;
  std::string name = "";  // none: LayerNorm, LayerNorm_1, ...
};

// Normalizes each example by its own mean and variance; gamma and beta apply along the last axis.
//   x: [N, ..., C].  Returns the type of x.
//   Variables: `<name>/beta`, `<name>/gamma`, each f32 [C].
// Errors (kept by the graph): INVALID_ARGUMENT if begin_norm_axis is not an axis of x.
// Source: tf.contrib.layers.layer_norm (TF 1.15).
Tensor LayerNorm(const Tensor& x, const LayerNormOptions& options = {});

}  // namespace estimator::layers

#endif  // ESTIMATOR_NN_LAYERS_NORMALIZATION_H_
