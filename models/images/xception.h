// Xception: depthwise separable convolutions with shortcuts.
#ifndef MODELS_IMAGES_XCEPTION_H_
#define MODELS_IMAGES_XCEPTION_H_

#include "estimator/graph/tensor.h"
#include "models/images/network_options.h"

namespace estimator::images {

using XceptionOptions = ScaledNetworkOptions;

// Returns the logits [N, classes], or without the top the features.
//   images: f32 or bf16 [N, H, W, C], at least 71x71; 299x299 is usual.
//   Variables: Keras'. The shortcuts are conv2d, batch_normalization to conv2d_3,
//   batch_normalization_3. 22,910,480 parameters with 1000 classes, 54,528 of them moving averages.
// Errors (kept by the graph): INVALID_ARGUMENT listing all that is wrong with images and options.
// Source: TF 2.15 tf.keras.applications.Xception; Chollet 2016, arXiv:1610.02357.
Tensor Xception(const Tensor& images, const XceptionOptions& options = {});

// PreprocessMode::kTf.
Tensor XceptionPreprocessInput(const Tensor& images);

}  // namespace estimator::images

#endif  // MODELS_IMAGES_XCEPTION_H_
