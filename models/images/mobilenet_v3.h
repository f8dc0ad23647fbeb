// MobileNetV3, small and large: inverted residual blocks with squeeze-and-excite and hard swish.
#ifndef MODELS_IMAGES_MOBILENET_V3_H_
#define MODELS_IMAGES_MOBILENET_V3_H_

#include <cstdint>
#include <string>

#include "estimator/graph/tensor.h"
#include "models/images/network_options.h"

namespace estimator::images {

struct MobileNetV3Options {
  bool training = false;
  bool include_top = true;
  int64_t classes = 1000;
  Pooling pooling = Pooling::kNone;
  bool trainable = true;
  std::string weights = "";
  bool softmax = false;
  double alpha = 1;                   // multiplies the numbers of filters
  bool minimalistic = false;          // 3x3 kernels and relu only, no squeeze-and-excite
  double dropout_rate = 0.2;          // before the top
  bool include_preprocessing = true;  // false: the images are from -1 to 1, not from 0 to 255
  // Filters of the layer before the top. 0: Keras', 1024 (small) or 1280 (large), times alpha if
  // alpha is above 1.
  int64_t last_filters = 0;
};

// Returns the logits [N, classes], or without the top the features.
//   images: f32 or bf16 [N, H, W, C], at least 32x32, with pixels from 0 to 255.
//   Variables: Keras'. Small: 2,554,968 parameters with 1000 classes; large: 5,507,432.
// Errors (kept by the graph): INVALID_ARGUMENT listing all that is wrong with images and options.
// Source: TF 2.15 tf.keras.applications.MobileNetV3Small, MobileNetV3Large; Howard et al. 2019,
// arXiv:1905.02244.
Tensor MobileNetV3Small(const Tensor& images, const MobileNetV3Options& options = {});
Tensor MobileNetV3Large(const Tensor& images, const MobileNetV3Options& options = {});

// Casts to f32: the network scales the pixels itself.
Tensor MobileNetV3PreprocessInput(const Tensor& images);

}  // namespace estimator::images

#endif  // MODELS_IMAGES_MOBILENET_V3_H_
