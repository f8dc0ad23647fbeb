// The ResNet of this program: that of models/images with the variables of TensorFlow's official TPU
// ResNet.
#ifndef MODELS_IMAGENET_RESNET_H_
#define MODELS_IMAGENET_RESNET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/estimator.h"
#include "models/images/resnet.h"

namespace estimator::imagenet {

// kV1 or kV1_5; images::ResNet has kV2, too.
using ResnetVersion = images::ResNetVersion;

struct ResnetOptions {
  int resnet_depth = 50;  // one of ResnetDepths()
  ResnetVersion resnet_version = ResnetVersion::kV1_5;
  int64_t num_label_classes = 1000;
  // The number of filters of the first convolution. The blocks of the four groups have 1, 2, 4 and
  // 8 times as many. 64 is the published size; a smaller one makes a small network for tests.
  int64_t width = 64;
};

// 18, 34, 50, 101, 152 and 200.
const std::vector<int>& ResnetDepths();
// Errors: INVALID_ARGUMENT listing every option that is out of range.
absl::Status CheckResnetOptions(const ResnetOptions& options);

// Builds the network and returns the logits.
//   images: f32 or bf16 [N, H, W, 3], normalized. H and W may have any size; 224 is usual.
//   Returns [N, num_label_classes], in the type of the images.
//   kTrain: batch normalization uses the moments of the batch and updates the moving averages.
//   Variables, numbered in the order in which they are built, a block's shortcut before its own
//   convolutions:
//     conv2d/kernel, conv2d_1/kernel, ...    without bias; variance scaling
//     batch_normalization/{gamma,beta,moving_mean,moving_variance}, batch_normalization_1/...
//                                            momentum 0.9, epsilon 1e-5; the last gamma of a block
//                                            starts at 0, so that the block starts as its shortcut
//     dense/kernel, dense/bias               normal, stddev 0.01; zeros
//   ResNet-50 with 1000 classes has 25,557,032 trainable parameters.
// Errors (kept by the graph): as CheckResnetOptions; INVALID_ARGUMENT if images have another type.
// Source: tensorflow/tpu models/official/resnet resnet_model.resnet_v1.
Tensor Resnet(const Tensor& images, Mode mode, const ResnetOptions& options = {});

// "1" or "1.5".
std::string ResnetVersionName(ResnetVersion version);
// Errors: INVALID_ARGUMENT if the name is neither "1" nor "1.5".
absl::StatusOr<ResnetVersion> ParseResnetVersion(absl::string_view name);

}  // namespace estimator::imagenet

#endif  // MODELS_IMAGENET_RESNET_H_
