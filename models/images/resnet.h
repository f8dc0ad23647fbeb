// ResNet: residual networks of 18 to 200 layers.
#ifndef MODELS_IMAGES_RESNET_H_
#define MODELS_IMAGES_RESNET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "estimator/graph/tensor.h"
#include "estimator/training/warm_start.h"
#include "models/images/network_options.h"

namespace estimator::images {

// ResNet-18 and 34 have no bottleneck blocks, so v1 and v1.5 are the same network there.
enum class ResNetVersion {
  kV1,    // a block that halves its input does so in its first 1x1 convolution, as in the paper
  kV1_5,  // in its 3x3 convolution: slower, more accurate
  kV2,    // normalizes before the convolutions; the last block of a group halves, as in Keras
};

// The names of the variables and the details of the layers.
//              kKeras                                  kTpu
//   names      conv2_block1_1_conv, conv2_block1_1_bn  conv2d_1, batch_normalization_1, dense
//   biases     of convolutions (v2: not before norms)  of the dense layer only
//   batch norm momentum 0.99, epsilon 1.001e-5         momentum 0.9, epsilon 1e-5; a block's last
//                                                      gamma starts at 0
//   first pool zeros around the image                  Padding::kSame
//   shortcut   a convolution where the shape changes   in the first block of each group
// kTpu is TensorFlow's official TPU ResNet, which models/imagenet trains; it has no v2.
enum class ResNetStyle { kKeras, kTpu };

struct ResNetOptions {
  bool training = false;
  bool include_top = true;
  int64_t classes = 1000;
  Pooling pooling = Pooling::kNone;
  bool trainable = true;
  std::string weights = "";
  bool softmax = false;
  int depth = 50;  // one of ResNetDepths()
  ResNetVersion version = ResNetVersion::kV1;
  ResNetStyle style = ResNetStyle::kKeras;
  double width = 1;  // multiplies the numbers of filters
};

// 18, 34, 50, 101, 152 and 200. Keras has 50, 101 and 152, in v1 and v2.
const std::vector<int>& ResNetDepths();

// Returns the logits [N, classes], or without the top the features.
//   images: f32 or bf16 [N, H, W, C], at least 32x32 with kKeras.
//   Variables: see ResNetStyle. Blocks are conv2_block1 to conv5_blockN; the layers of one are
//   _0 (shortcut), _1, _2 and, with a bottleneck, _3. Keras' ResNet50 has 25,636,712 parameters
//   with 1000 classes, 53,120 of them moving averages.
// Errors (kept by the graph): INVALID_ARGUMENT listing all that is wrong with images and options.
// Source: TF 2.15 tf.keras.applications.resnet and resnet_v2; tensorflow/tpu models/official/resnet
// resnet_model.resnet_v1; He et al., arXiv:1512.03385 and arXiv:1603.05027.
Tensor ResNet(const Tensor& images, const ResNetOptions& options = {});

// PreprocessMode::kCaffe for v1, kTf for v2, as Keras; kTorch for v1.5.
Tensor ResNetPreprocessInput(const Tensor& images, ResNetVersion version = ResNetVersion::kV1);

// A map for train::InitFromCheckpoint from slim's resnet_v1_50 or resnet_v2_50 (or another depth
// with bottleneck blocks), without the top. Keras' convolutions have biases that slim's lack. Slim
// halves in the last block of a group, and pads its first pool as Padding::kSame: a network that
// starts there needs fine-tuning before it is as good.
//   scope: that of the network here, "" or "a/b/".
// Errors (kept by the graph): INVALID_ARGUMENT if slim has no such network.
train::AssignmentMap ResNetFromSlim(const ResNetOptions& options, StringArg scope = "");

}  // namespace estimator::images

#endif  // MODELS_IMAGES_RESNET_H_
