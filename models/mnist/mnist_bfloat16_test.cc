// Training in bfloat16 follows training in float32, with each way of docs/mixed_precision.md.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/training/testing/loss_recorder.h"
#include "models/mnist/digits.h"
#include "models/mnist/mnist_data.h"
#include "tpu/tpu_estimator.h"

namespace estimator::mnist {
namespace {

constexpr int kSteps = 50;

// A small network like the example's, in the dtype that its images are cast to.
tpu::TPUEstimatorSpec ModelFn(DType activations, const Features& features, const Tensor& labels) {
  using namespace layers;  // NOLINT: as in network.cc
  Tensor x = Cast(Reshape(features["image"], {-1, 28, 28, 1}), DType::kFloat32) * (1.f / 255);
  x = Cast(x, activations);
  x = Conv2D(x, {.filters = 16, .kernel_size = 5, .padding = Padding::kSame, .activation = Relu});
  x = MaxPooling2D(x, {.pool_size = 2});
  x = Conv2D(x, {.filters = 32, .kernel_size = 3, .padding = Padding::kSame, .use_bias = false});
  x = Relu(BatchNormalization(x, {.training = true}));
  x = MaxPooling2D(x, {.pool_size = 2});
  x = Dense(Flatten(x), {.units = 64, .activation = Relu});
  const Tensor logits = Cast(Dense(x, {.units = 10}), DType::kFloat32);
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  return tpu::TPUEstimatorSpec::Train(loss, train::Momentum(0.02, 0.9).Minimize(loss));
}

std::vector<double> Losses(DType activations, DType compute_dtype) {
  const TempDir dir;
  tpu::RunConfig config;
  config.model_dir = dir.path();
  config.tf_random_seed = 1;
  config.save_checkpoints_steps = 0;
  config.save_summary_steps = config.log_step_count_steps = std::nullopt;
  config.compute_dtype = compute_dtype;
  tpu::TPUEstimator<> estimator(
      {.model_fn = [activations](
                       const Features& features, const Tensor& labels, Mode,
                       const tpu::Params&) { return ModelFn(activations, features, labels); },
       .config = config,
       .params = {},
       .use_tpu = false,
       .train_batch_size = 64});
  const auto recorder = std::make_shared<LossRecorder>();
  static const DigitSet& digits = *new DigitSet(DrawDigits(1, 0, 1000));
  const absl::Status trained = estimator.Train(
      [](const tpu::Params& params) {
        return MnistDataset(digits, Mode::kTrain, params.batch_size);
      },
      Steps(kSteps), {.hooks = {recorder}});
  EST_EXPECT_OK(trained);
  return recorder->losses;
}

double Mean(const std::vector<double>& losses, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += losses[i];
  return sum / static_cast<double>(end - begin);
}

TEST(MnistInBfloat16, LossesFollowThoseOfFloat32) {
  const std::vector<double> f32 = Losses(DType::kFloat32, DType::kFloat32);
  ASSERT_EQ(f32.size(), static_cast<size_t>(kSteps));
  EXPECT_LT(Mean(f32, 40, 50), 0.5 * f32[0]) << "the network learns";
  for (const DType activations : {DType::kFloat32, DType::kBfloat16}) {
    const std::vector<double> narrow = Losses(activations, DType::kBfloat16);
    ASSERT_EQ(narrow.size(), f32.size());
    // The first step shows the error of one forward pass.
    EXPECT_NEAR(narrow[0], f32[0], 0.01 * f32[0]) << activations;
    // Later, steps in slightly different directions add up. Means over ten steps still agree.
    for (size_t begin = 0; begin < f32.size(); begin += 10) {
      const double expected = Mean(f32, begin, begin + 10);
      EXPECT_NEAR(Mean(narrow, begin, begin + 10), expected, 0.1 * expected + 0.03)
          << activations << " activations, steps " << begin + 1 << " to " << begin + 10;
    }
  }
}

}  // namespace
}  // namespace estimator::mnist
