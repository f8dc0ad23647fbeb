// EfficientNetV2-S: EfficientNet whose first blocks are plain 3x3 convolutions.
#ifndef MODELS_IMAGES_EFFICIENTNET_V2_H_
#define MODELS_IMAGES_EFFICIENTNET_V2_H_

#include <cstdint>
#include <string>

#include "estimator/graph/tensor.h"
#include "models/images/network_options.h"

namespace estimator::images {

struct EfficientNetV2Options {
  bool training = false;
  bool include_top = true;
  int64_t classes = 1000;
  Pooling pooling = Pooling::kNone;
  bool trainable = true;
  std::string weights = "";
  bool softmax = false;
  double drop_connect_rate = 0.2;  // of whole blocks of an example; grows from 0 to it in depth
  double dropout_rate = 0.2;       // before the top
  double width_coefficient = 1;
  double depth_coefficient = 1;
  bool include_preprocessing = true;  // false: the images are from -1 to 1, not from 0 to 255
};

// Returns the logits [N, classes], or without the top the features.
//   images: f32 or bf16 [N, H, W, C], at least 32x32, usually 384x384, with pixels from 0 to 255.
//   Variables: Keras'. 21,612,360 parameters with 1000 classes.
// Errors (kept by the graph): INVALID_ARGUMENT listing all that is wrong with images and options.
// Source: TF 2.15 tf.keras.applications.EfficientNetV2S; Tan and Le 2021, arXiv:2104.00298.
Tensor EfficientNetV2S(const Tensor& images, const EfficientNetV2Options& options = {});

// Casts to f32: the network scales the pixels itself.
Tensor EfficientNetV2PreprocessInput(const Tensor& images);

}  // namespace estimator::images

#endif  // MODELS_IMAGES_EFFICIENTNET_V2_H_
