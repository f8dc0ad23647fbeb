// Finders and checks before a run on replicas.
#include "estimator/base/file_system.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/training/finders.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/testing/train_fixture.h"

namespace estimator::tpu {
namespace {

using ::testing::IsEmpty;
using TPUFindersTest = TPUTrainFixture;

std::vector<std::string> FilesOf(const std::string& dir) {
  return FileExists(dir) ? ListDirectory(dir).value() : std::vector<std::string>();
}

TEST_F(TPUFindersTest, TheyComputeTheSameAsLocally) {
  TinyTPUEstimator local(TinyTPUOptions(Dir(), 0)), replicas(TinyTPUOptions(Dir(), 4, 10));
  const FindLearningRateOptions options = {.min = 1e-3, .max = 0.2, .steps = 30};
  const auto one = FindLearningRate(local, local.Input(TinyTrainInput), options);
  const auto four = FindLearningRate(replicas, replicas.Input(TinyTrainInput), options);
  EST_ASSERT_OK(one);
  EST_ASSERT_OK(four);
  ASSERT_EQ(one->curve.size(), four->curve.size());
  for (size_t i = 0; i < one->curve.size(); ++i)
    EXPECT_NEAR(one->curve[i].second, four->curve[i].second, 1e-5) << i;
  EXPECT_EQ(one->suggestion, four->suggestion);

  const auto losses = OverfitBatches(local, local.Input(TinyTrainInput), 2, 20).value();
  const auto of_four = OverfitBatches(replicas, replicas.Input(TinyTrainInput), 2, 20).value();
  ASSERT_EQ(losses.size(), of_four.size());
  for (size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], of_four[i], 1e-5) << i;
  EXPECT_THAT(FilesOf(replicas.model_dir()), IsEmpty());
}

// The rate that is suggested is the one that the optimizer gets.
TEST_F(TPUFindersTest, AScaledRateIsFoundForOneReplica) {
  auto options = TinyTPUOptions(Dir(), 4);
  const auto suggestion = [&](double min, double max) {
    TinyTPUEstimator estimator(options);
    const auto found = FindLearningRate(estimator, estimator.Input(TinyTrainInput),
                                        {.min = min, .max = max, .steps = 30});
    EST_EXPECT_OK(found);
    return found->suggestion;
  };
  const double plain = suggestion(4e-3, 0.4);
  options.config.scale_learning_rate = true;
  EXPECT_NEAR(suggestion(1e-3, 0.1), plain / 4, 1e-6);
}

TEST_F(TPUFindersTest, ABatchIsDividedAmongTheReplicas) {
  TinyTPUEstimator estimator(TinyTPUOptions(Dir(), 4));
  EXPECT_EQ(FindBatchSize(estimator, estimator.Input(TinyTrainInput))->batch_size, 24);
}

TEST_F(TPUFindersTest, ADryRunIsOneStepOfALoop) {
  const std::string dir = Dir();
  auto options = TinyTPUOptions(dir, 2, 50);
  options.config.dry_run = true;
  TinyTPUEstimator estimator(options);
  EST_ASSERT_OK(estimator.Train(TinyTrainInput, MaxSteps(1000)));
  EXPECT_EQ(estimator.config().model_dir, estimator.model_dir());
  EXPECT_EQ(estimator.Evaluate(TinyEvalInput)->global_step(), 1);
  EXPECT_EQ(estimator.Predict(TinyEvalInput).All()->size(), 8u);
  EXPECT_FALSE(FileExists(dir));
}

}  // namespace
}  // namespace estimator::tpu
