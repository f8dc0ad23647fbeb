// EfficientNet B0 to B7: inverted residual blocks with squeeze-and-excite and swish, one network
// scaled in width, depth and image size.
#ifndef MODELS_IMAGES_EFFICIENTNET_H_
#define MODELS_IMAGES_EFFICIENTNET_H_

#include <cstdint>
#include <optional>
#include <string>

#include "estimator/graph/tensor.h"
#include "models/images/network_options.h"

namespace estimator::images {

struct EfficientNetOptions {
  bool training = false;
  bool include_top = true;
  int64_t classes = 1000;
  Pooling pooling = Pooling::kNone;
  bool trainable = true;
  std::string weights = "";
  bool softmax = false;
  int model = 0;                   // 0 to 7: B0 to B7
  double drop_connect_rate = 0.2;  // of whole blocks of an example; grows from 0 to it in depth
  // Replace those of the model.
  std::optional<double> dropout_rate = std::nullopt;  // before the top
  std::optional<double> width_coefficient = std::nullopt;
  std::optional<double> depth_coefficient = std::nullopt;
  // true: divides the pixels by the roots of ImageNet's standard deviations too. Set it with Keras'
  // own ImageNet weights, which were trained so.
  bool imagenet_rescaling = false;
};

// Returns the logits [N, classes], or without the top the features.
//   images: f32 or bf16 [N, H, W, C], at least 32x32, with pixels from 0 to 255.
//   Variables: Keras', normalization/{mean,variance,count} among them, which are not trained.
//                  B0   B1   B2   B3   B4   B5   B6   B7
//     width        1.0  1.0  1.1  1.2  1.4  1.6  1.8  2.0
//     depth        1.0  1.1  1.2  1.4  1.8  2.2  2.6  3.1
//     image size   224  240  260  300  380  456  528  600
//     dropout_rate 0.2  0.2  0.3  0.3  0.4  0.4  0.5  0.5
//   B0 has 5,330,571 parameters with 1000 classes, B7 66,658,687.
// Errors (kept by the graph): INVALID_ARGUMENT listing all that is wrong with images and options.
// Source: TF 2.15 tf.keras.applications.EfficientNetB0; Tan and Le 2019, arXiv:1905.11946.
Tensor EfficientNet(const Tensor& images, const EfficientNetOptions& options = {});

// Casts to f32: the network scales the pixels itself.
Tensor EfficientNetPreprocessInput(const Tensor& images);

}  // namespace estimator::images

#endif  // MODELS_IMAGES_EFFICIENTNET_H_
