// A network of convolutions in float64 on one replica and on several: the same losses, but for what
// float64 rounds. What float32 runs differ in beyond that is rounding alone: replicas add up
// the same numbers in another order.
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tpu/testing/train_fixture.h"

namespace estimator::tpu {
namespace {

using TPUFloat64Test = TPUTrainFixture;

constexpr int64_t kBatchSize = 16;  // 2 examples on each of 8 replicas
constexpr int kSteps = 20;

Dataset Images(const Params& params) {
  constexpr int64_t kImages = 80;
  Array x(DType::kFloat64, {kImages, 12, 12, 1}), labels(DType::kInt32, {kImages});
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const auto at = static_cast<double>(i);
    x.data<double>()[i] = std::sin(0.37 * at) * std::cos(0.0031 * at);
  }
  for (int64_t i = 0; i < kImages; ++i) labels.data<int32_t>()[i] = static_cast<int32_t>(i % 10);
  return Dataset::FromTensorSlices({.features = {{"x", x}}, .labels = labels})
      .Repeat()
      .Batch(params.batch_size);
}

TPUEstimatorSpec Convolutions(const Features& features, const Labels& labels, Mode, const Params&) {
  Tensor x = layers::Conv2D(
      features["x"],
      {.filters = 4, .kernel_size = 5, .padding = Padding::kSame, .activation = Relu});
  x = layers::MaxPooling2D(x, {.pool_size = 2, .padding = Padding::kSame});
  x = layers::Conv2D(
      x, {.filters = 8, .kernel_size = 3, .padding = Padding::kSame, .activation = Relu});
  x = layers::MaxPooling2D(x, {.pool_size = 2, .padding = Padding::kSame});
  x = layers::Dense(layers::Flatten(x), {.units = 32, .activation = Relu});
  x = layers::Dense(x, {.units = 10});
  const Tensor loss = Identity(losses::SparseSoftmaxCrossEntropy(labels, x), "tiny_loss");
  return TPUEstimatorSpec::Train(loss,
                                 CrossShardOptimizer(train::Momentum(0.05, 0.9)).Minimize(loss));
}

TEST_F(TPUFloat64Test, OneReplicaEightAndTheCpuHaveTheSameLosses) {
  const auto losses = [this](int replicas) {
    auto options = TinyTPUOptions(Dir(), replicas);
    options.model_fn = Convolutions;
    options.train_batch_size = kBatchSize;
    return Losses(options, kSteps, Images);
  };
  const std::vector<double> local = losses(0);
  ASSERT_EQ(local.size(), static_cast<size_t>(kSteps));
  EXPECT_GT(std::abs(local.back() - local.front()), 1e-2) << "the steps change something";
  for (const int replicas : {1, 2, 8}) {
    SCOPED_TRACE(replicas);
    ExpectSameLosses(losses(replicas), local, 1e-11);
  }
}

}  // namespace
}  // namespace estimator::tpu
