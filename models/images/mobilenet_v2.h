// MobileNetV2: inverted residual blocks with linear bottlenecks.
#ifndef MODELS_IMAGES_MOBILENET_V2_H_
#define MODELS_IMAGES_MOBILENET_V2_H_

#include <cstdint>
#include <string>

#include "estimator/graph/tensor.h"
#include "estimator/training/warm_start.h"
#include "models/images/network_options.h"

namespace estimator::images {

struct MobileNetV2Options {
  bool training = false;
  bool include_top = true;
  int64_t classes = 1000;
  Pooling pooling = Pooling::kNone;
  bool trainable = true;
  std::string weights = "";
  bool softmax = false;
  double alpha = 1;  // multiplies the numbers of filters; the last ones only if it is above 1
};

// Returns the logits [N, classes], or without the top the features.
//   images: f32 or bf16 [N, H, W, C], at least 32x32.
//   Variables: Keras'. 3,538,984 parameters with 1000 classes. Keras has no dropout here.
// Errors (kept by the graph): INVALID_ARGUMENT listing all that is wrong with images and options.
// Source: TF 2.15 tf.keras.applications.MobileNetV2; Sandler et al. 2018, arXiv:1801.04381.
Tensor MobileNetV2(const Tensor& images, const MobileNetV2Options& options = {});

// PreprocessMode::kTf.
Tensor MobileNetV2PreprocessInput(const Tensor& images);

// A map for train::InitFromCheckpoint from slim's MobilenetV2, without its top, which has a class
// more.
//   scope: that of the network here, "" or "a/b/".
train::AssignmentMap MobileNetV2FromSlim(StringArg scope = "");

}  // namespace estimator::images

#endif  // MODELS_IMAGES_MOBILENET_V2_H_
