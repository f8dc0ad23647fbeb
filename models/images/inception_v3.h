// Inception v3: blocks of parallel branches.
#ifndef MODELS_IMAGES_INCEPTION_V3_H_
#define MODELS_IMAGES_INCEPTION_V3_H_

#include "estimator/graph/tensor.h"
#include "estimator/training/warm_start.h"
#include "models/images/network_options.h"

namespace estimator::images {

using InceptionV3Options = ScaledNetworkOptions;

// Returns the logits [N, classes], or without the top the features.
//   images: f32 or bf16 [N, H, W, C], at least 75x75; 299x299 is usual.
//   Variables: Keras', conv2d and batch_normalization (without gamma) to conv2d_93 and
//   batch_normalization_93. 23,851,784 parameters with 1000 classes, 34,432 of them moving
//   averages. There is no auxiliary head, as in Keras.
// Errors (kept by the graph): INVALID_ARGUMENT listing all that is wrong with images and options.
// Source: TF 2.15 tf.keras.applications.InceptionV3; Szegedy et al. 2015, arXiv:1512.00567.
Tensor InceptionV3(const Tensor& images, const InceptionV3Options& options = {});

// PreprocessMode::kTf.
Tensor InceptionV3PreprocessInput(const Tensor& images);

// A map for train::InitFromCheckpoint from slim's inception_v3, which is the same network. The top
// is left out: slim's is a convolution.
//   scope: that of the network here, "" or "a/b/".
train::AssignmentMap InceptionV3FromSlim(StringArg scope = "");

}  // namespace estimator::images

#endif  // MODELS_IMAGES_INCEPTION_V3_H_
