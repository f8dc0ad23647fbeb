// MobileNet: depthwise separable convolutions.
#ifndef MODELS_IMAGES_MOBILENET_H_
#define MODELS_IMAGES_MOBILENET_H_

#include <cstdint>
#include <string>

#include "estimator/graph/tensor.h"
#include "estimator/training/warm_start.h"
#include "models/images/network_options.h"

namespace estimator::images {

struct MobileNetOptions {
  bool training = false;
  bool include_top = true;
  int64_t classes = 1000;
  Pooling pooling = Pooling::kNone;
  bool trainable = true;
  std::string weights = "";
  bool softmax = false;
  double alpha = 1;              // multiplies the numbers of filters
  int64_t depth_multiplier = 1;  // outputs of a depthwise convolution for each channel
  double dropout = 1e-3;         // before the top
};

// Returns the logits [N, classes], or without the top the features.
//   images: f32 or bf16 [N, H, W, C], at least 32x32.
//   Variables: Keras'. 4,253,864 parameters with 1000 classes.
// Errors (kept by the graph): INVALID_ARGUMENT listing all that is wrong with images and options.
// Source: TF 2.15 tf.keras.applications.MobileNet; Howard et al. 2017, arXiv:1704.04861.
Tensor MobileNet(const Tensor& images, const MobileNetOptions& options = {});

// PreprocessMode::kTf.
Tensor MobileNetPreprocessInput(const Tensor& images);

// A map for train::InitFromCheckpoint from slim's MobilenetV1, without its top, which has a class
// more.
//   scope: that of the network here, "" or "a/b/".
train::AssignmentMap MobileNetFromSlim(StringArg scope = "");

}  // namespace estimator::images

#endif  // MODELS_IMAGES_MOBILENET_H_
