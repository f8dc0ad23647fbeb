#include "tools/replay/matcher.h"

#include <gtest/gtest.h>

#include "estimator/estimator.h"
#include "tpu/tpu_estimator.h"

// As a user's test of a ported model: model functions of both kinds, and what is said when they
// differ.
namespace estimator {
namespace {

constexpr char kReference[] = "testdata/reference/mnist_momentum";

struct MnistParams : tpu::Params {
  double momentum = 0.9;
  std::string dense = "dense";
};

Tensor Loss(const Tensor& image, const Tensor& labels, const std::string& dense = "dense") {
  using namespace layers;  // NOLINT
  Tensor x = Cast(Reshape(image, {-1, 28, 28, 1}), DType::kFloat32) * (1.f / 255);
  x = Conv2D(x, {.filters = 4, .kernel_size = 5, .padding = Padding::kSame, .activation = Relu});
  x = MaxPooling2D(x, {.pool_size = 2, .padding = Padding::kSame});
  x = Conv2D(x, {.filters = 8, .kernel_size = 5, .padding = Padding::kSame, .activation = Relu});
  x = MaxPooling2D(x, {.pool_size = 2, .padding = Padding::kSame});
  x = Dense(Flatten(x), {.units = 16, .activation = Relu, .name = dense});
  return losses::SparseSoftmaxCrossEntropy(labels, Dense(x, {.units = 10, .name = "dense_1"}));
}

Schedule Rate() {
  return train::ExponentialDecay({.initial = 0.02, .decay_steps = 10, .decay_rate = 0.95});
}

tpu::TPUEstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode,
                              const MnistParams& params) {
  const Tensor loss = Loss(features["image"], labels, params.dense);
  return tpu::TPUEstimatorSpec::Train(
      loss, tpu::CrossShardOptimizer(train::Momentum(Rate(), params.momentum)).Minimize(loss));
}

EstimatorSpec PlainModelFn(const Features& features, const Labels& labels, Mode,
                           const EstimatorParams&) {
  const Tensor loss = Loss(features["image"], labels);
  return EstimatorSpec::Train(loss, train::Momentum(Rate(), 0.9).Minimize(loss));
}

TEST(MatcherTest, AModelFnOfTPUEstimatorMatches) {
  EXPECT_THAT(ModelFn, replay::MatchesReference(kReference));
}

TEST(MatcherTest, AModelFnOfEstimatorMatches) {
  EXPECT_THAT(PlainModelFn, replay::MatchesReference(kReference));
}

TEST(MatcherTest, ALambdaOfBareTensorsWithoutParamsMatches) {
  const auto model_fn = [](const Tensor& image, const Tensor& labels, Mode) {
    const Tensor loss = Loss(image, labels);
    return EstimatorSpec::Train(loss, train::Momentum(Rate(), 0.9).Minimize(loss));
  };
  EXPECT_THAT(model_fn, replay::MatchesReference(kReference));
}

TEST(MatcherTest, AModelMatchesOnReplicas) {
  EXPECT_THAT(ModelFn, replay::MatchesReference(kReference, {.num_shards = 4}));
}

TEST(MatcherTest, ParamsAreHandedToTheModelFn) {
  MnistParams params;
  params.momentum = 0.8;
  ::testing::StringMatchResultListener listener;
  EXPECT_FALSE(::testing::ExplainMatchResult(replay::MatchesReference(kReference),
                                             replay::Model(ModelFn, params), &listener));
  // One step is the same under any momentum: the second shows it.
  EXPECT_THAT(listener.str(), ::testing::HasSubstr("first in step 2, norm of variable conv2d/"));
}

TEST(MatcherTest, AReplayThatCannotBeRunIsNoMatchAndSaysWhy) {
  MnistParams params;
  params.dense = "hidden";
  ::testing::StringMatchResultListener listener;
  EXPECT_FALSE(::testing::ExplainMatchResult(replay::MatchesReference(kReference),
                                             replay::Model(ModelFn, params), &listener));
  EXPECT_THAT(listener.str(), ::testing::HasSubstr("the replay failed: NOT_FOUND: the model's "
                                                   "variables are not those of"));
  EXPECT_THAT(listener.str(), ::testing::HasSubstr("hidden/kernel"));
}

}  // namespace
}  // namespace estimator
