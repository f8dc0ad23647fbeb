// Batch and layer normalization.
#ifndef ESTIMATOR_NN_LAYERS_NORMALIZATION_H_
#define ESTIMATOR_NN_LAYERS_NORMALIZATION_H_

#include <string>

#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"

namespace estimator::layers {

struct BatchNormalizationOptions {
  double momentum = 0.99;  // of the moving averages
  double epsilon = 1e-3;
  bool center = true;  // add beta
  bool scale = true;   // multiply by gamma
  // true: statistics of the batch, and moving averages follow them; false: the moving averages.
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
//   x: [N, H, W, C] (one FusedBatchNormV3), or [N, ..., C].  Returns x's type. Computed in f32 for
//   bf16. Variables: `<name>/gamma`, `beta`, `moving_mean`, `moving_variance`, each f32 [C].
// The updates of the moving averages join graph.update_ops(), which every training step runs. For
// rank 4 the moving variance follows the batch's variance times N / (N - 1), as TensorFlow's fused
// op does. Source: TF 2.15 tf.compat.v1.layers.batch_normalization.
Tensor BatchNormalization(const Tensor& x, const BatchNormalizationOptions& options = {});

struct LayerNormOptions {
  int begin_norm_axis =
      1;  // statistics over this axis and those after it; -1: the last alone (BERT)
  double epsilon = 1e-12;
  bool center = true;
  bool scale = true;
  bool trainable = true;
  std::string name = "";  // none: LayerNorm, LayerNorm_1, ...
};

// Each example normalized by itself; gamma and beta along the last axis.
//   x: [N, ..., C].  Variables: `<name>/beta`, `<name>/gamma`, each f32 [C].
// Source: tf.contrib.layers.layer_norm (TF 1.15).
Tensor LayerNorm(const Tensor& x, const LayerNormOptions& options = {});

}  // namespace estimator::layers

#endif  // ESTIMATOR_NN_LAYERS_NORMALIZATION_H_
