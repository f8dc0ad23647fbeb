// DenseNet121: blocks in which each layer reads the outputs of all layers before it.
#ifndef MODELS_IMAGES_DENSENET_H_
#define MODELS_IMAGES_DENSENET_H_

#include "estimator/graph/tensor.h"
#include "models/images/network_options.h"

namespace estimator::images {

// The growth rate is 32 * width.
using DenseNet121Options = ScaledNetworkOptions;

// Returns the logits [N, classes], or without the top the features.
//   images: f32 or bf16 [N, H, W, C], at least 32x32.
//   Variables: Keras'. 8,062,504 parameters with 1000 classes, 83,648 of them moving averages.
// Errors (kept by the graph): INVALID_ARGUMENT listing all that is wrong with images and options.
// Source: TF 2.15 tf.keras.applications.DenseNet121; Huang et al. 2016, arXiv:1608.06993.
Tensor DenseNet121(const Tensor& images, const DenseNet121Options& options = {});

// PreprocessMode::kTorch.
Tensor DenseNetPreprocessInput(const Tensor& images);

}  // namespace estimator::images

#endif  // MODELS_IMAGES_DENSENET_H_
