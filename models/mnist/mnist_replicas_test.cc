// The network of the example on one replica, on eight, and on the CPU: the same numbers.
//
// What differs is the order in which float32 numbers are added up, and nothing else. Measured with
// this network and batch at a learning rate of 0.05, the worst of 20 losses, eight replicas against
// one: 2e-16 in float64, 6e-5 in float32. The latter is one event: losses agree to 1e-7 for twelve
// steps, then a relu or a max pool of the one-replica run goes the other way by its last bit. That
// run parts from float64 by the same 6e-5 at the same step; eight replicas stay within 9e-8 of it,
// and one replica within 2e-7 if its dense/kernel begins one rounding away. The gradients of the
// first step are as near to float64's on eight replicas (3e-8 to 5e-7 of their rms) as on one (9e-8
// to 5e-7). //tpu:tpu_float64_test holds the replicas themselves to 1e-11.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/training/testing/loss_recorder.h"
#include "models/mnist/digits.h"
#include "models/mnist/mnist_data.h"
#include "models/mnist/network.h"
#include "tpu/tpu_estimator.h"

namespace estimator::mnist {
namespace {

constexpr int64_t kBatchSize = 32;
constexpr int kSteps = 20;
// Small: where a sum's last bit decides whether a relu is open, two runs part at once, by more the
// larger the steps are. At 0.01 it does not happen within 20 steps: the losses agree to 1e-7.
constexpr double kLearningRate = 0.01;

// As mnist_tpu's, without dropout: what is dropped depends on the replica.
tpu::TPUEstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode,
                              const tpu::Params&) {
  const Tensor logits = Inference(features["image"], Mode::kEval);
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  return tpu::TPUEstimatorSpec::Train(
      loss, tpu::CrossShardOptimizer(train::GradientDescent(kLearningRate)).Minimize(loss));
}

// num_shards 0: use_tpu = false.
std::vector<double> Losses(int64_t num_shards, const DigitSet& digits) {
  const TempDir dir;
  tpu::RunConfig config;
  config.model_dir = dir.path();
  config.tf_random_seed = 1;
  config.save_checkpoints_steps = 0;
  config.save_summary_steps = config.log_step_count_steps = std::nullopt;
  config.tpu_config.iterations_per_loop = 1;
  if (num_shards > 0) config.tpu_config.num_shards = num_shards;
  tpu::TPUEstimator<> estimator({.model_fn = ModelFn,
                                 .config = config,
                                 .params = {},
                                 .use_tpu = num_shards > 0,
                                 .train_batch_size = kBatchSize});
  const auto recorder = std::make_shared<LossRecorder>();
  const absl::Status trained = estimator.Train(
      [&digits](const tpu::Params& params) {
        return MnistDataset(digits, Mode::kTrain, params.batch_size);
      },
      Steps(kSteps), {.hooks = {recorder}});
  EST_EXPECT_OK(trained);
  return recorder->losses;
}

TEST(MnistOnReplicas, OneReplicaEightAndTheCpuHaveTheSameLosses) {
  const DigitSet digits = DrawDigits(1, 0, 500);
  const std::vector<double> local = Losses(0, digits);
  ASSERT_EQ(local.size(), static_cast<size_t>(kSteps));
  EXPECT_GT(std::abs(local.back() - local.front()), 1e-3) << "the steps change something";
  for (const int64_t replicas : {1, 8}) {
    const std::vector<double> losses = Losses(replicas, digits);
    ASSERT_EQ(losses.size(), local.size());
    for (size_t i = 0; i < losses.size(); ++i)
      EXPECT_NEAR(losses[i], local[i], 1e-5 * local[i]) << replicas << " replicas, step " << i + 1;
  }
}

}  // namespace
}  // namespace estimator::mnist
