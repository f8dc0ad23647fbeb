// How pixels of 0 to 255 become the numbers that a network was trained with.
#ifndef MODELS_IMAGES_PREPROCESS_INPUT_H_
#define MODELS_IMAGES_PREPROCESS_INPUT_H_

#include "estimator/graph/tensor.h"

namespace estimator::images {

// Keras' modes. Means and standard deviations are those of ImageNet.
//   kCaffe  blue, green, red, minus the means; 0 to 255 is the scale
//   kTf     x / 127.5 - 1: from -1 to 1
//   kTorch  (x / 255 - mean) / stddev
enum class PreprocessMode { kCaffe, kTf, kTorch };

// Pixels of 0 to 255 as a network wants them. Each network's function of this kind says its mode.
//   images: [N, H, W, 3] of any numeric dtype; with kTf, any number of channels.  Returns f32.
// Errors (kept by the graph): INVALID_ARGUMENT if there are not 3 channels.
// Source: TF 2.15 tf.keras.applications.imagenet_utils.preprocess_input.
Tensor PreprocessInput(const Tensor& images, PreprocessMode mode = PreprocessMode::kCaffe);

}  // namespace estimator::images

#endif  // MODELS_IMAGES_PREPROCESS_INPUT_H_
