// The model_fn of the ResNet program.
#ifndef MODELS_IMAGENET_RESNET_MODEL_H_
#define MODELS_IMAGENET_RESNET_MODEL_H_

#include <cstdint>

#include "models/imagenet/learning_rate.h"
#include "models/imagenet/resnet.h"
#include "tpu/tpu_estimator.h"

namespace estimator::imagenet {

struct ResnetParams : tpu::Params {
  ResnetOptions network;
  LearningRateOptions learning_rate;
  DType compute_dtype = DType::kFloat32;  // kBfloat16: convolutions and activations in bf16
  double momentum = 0.9;
  double weight_decay = 1e-4;   // of all variables but those of batch normalization
  double label_smoothing = 0;   // in [0, 1)
  bool enable_lars = false;     // LARS and its schedule, in place of Momentum
  bool skip_host_call = false;  // true: no summaries of the learning rate and the epoch
};

// Classifies images.
//   features: the images, [N, H, W, 3] of any numeric dtype, 0 to 255, alone or named "image".
//   labels: i32 [N], in [0, num_label_classes).
//   TRAIN: the loss is the mean softmax cross entropy plus the weight decay, Nesterov momentum.
//   With
//     LARS, the optimizer has the weight decay. Summaries: learning_rate and current_epoch.
//   EVAL: top_1_accuracy and top_5_accuracy. The loss has the weight decay, as in training.
//   PREDICT: classes, i64 [N], and probabilities, f32 [N, num_label_classes]. If there is a feature
//     "example_id", it is a prediction too.
// The images are normalized here, with the mean and standard deviation of ImageNet.
// Errors of the step: a label outside [0, num_label_classes), naming its row.
// Source: tensorflow/tpu models/official/resnet resnet_main.resnet_model_fn.
tpu::TPUEstimatorSpec ResnetModelFn(const Features& features, const Labels& labels, Mode mode,
                                    const ResnetParams& params);

// The input of an exported model: `image`, f32 [N, image_size, image_size, 3], 0 to 255.
ServingInputReceiverFn ResnetServingInput(int64_t image_size);

}  // namespace estimator::imagenet

#endif  // MODELS_IMAGENET_RESNET_MODEL_H_
