// The learning-rate schedules of TensorFlow's official TPU ResNet.
#ifndef MODELS_IMAGENET_LEARNING_RATE_H_
#define MODELS_IMAGENET_LEARNING_RATE_H_

#include <cstdint>
#include <vector>

#include "estimator/estimator.h"

namespace estimator::imagenet {

struct LearningRateOptions {
  double base_learning_rate = 0.1;     // for a batch of 256; the rate grows with the batch
  int64_t train_batch_size = 1024;     // over all replicas
  int64_t num_train_images = 1281167;  // of an epoch
  int64_t train_steps = 112590;        // of the run: about 90 epochs
  double poly_rate = 0;                // LARS: the rate after the warm-up; 0: by the batch size
};

// The part of a schedule that begins at an epoch: the rate is multiplier * the scaled rate.
struct RatePhase {
  double multiplier = 1;
  double start_epoch = 0;
};
// The phases of StepLearningRate: 1, 0.1, 0.01 and 0.001, from epochs 5, 30, 60 and 80 if the run
// has 90 epochs, and in proportion for another length. As in the original they are rounded down to
// whole epochs. A run of fewer than 18 epochs has no whole epoch of warm-up: there they are not
// rounded, where the original would skip the warm-up and, below 2 epochs, all but the last phase.
std::vector<RatePhase> RatePhases(const LearningRateOptions& options);

// The number of epochs that `step` steps are: step / (num_train_images / train_batch_size).
//   step: f32 [].  Returns f32 [].
Tensor CurrentEpoch(const Tensor& step, const LearningRateOptions& options);

// For Momentum: rises linearly from 0 to base_learning_rate * train_batch_size / 256 in the
// warm-up, and is a tenth from each later phase on.
// Source: tensorflow/tpu models/official/resnet resnet_main.learning_rate_schedule.
Schedule StepLearningRate(const LearningRateOptions& options);

// For LARS: rises linearly from 0 to the peak, and then falls to 1e-4 at train_steps, as a
// polynomial of power 2.
//   train_batch_size   peak   epochs of the warm-up
//   below 16384        10     5
//   below 32768        25     5
//   larger             32     14
// poly_rate replaces the peak. If the warm-up takes all of train_steps, the rate only rises.
// Source: tensorflow/tpu models/official/resnet lars_util.poly_rate_schedule.
Schedule PolynomialLearningRate(const LearningRateOptions& options);

}  // namespace estimator::imagenet

#endif  // MODELS_IMAGENET_LEARNING_RATE_H_
