// TrainAndEvaluate, early stopping and InMemoryEvaluatorHook with TPUEstimator, here and on
// replicas.
#include <memory>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/testing/train_fixture.h"

namespace estimator::tpu {
namespace {

using ::testing::ElementsAre;

// Once with use_tpu = false, and once on 4 replicas with 5 steps a run.
class TPUTrainAndEvaluateTest : public TPUTrainFixture, public ::testing::WithParamInterface<int> {
 protected:
  TinyTPUEstimator::Options Options() {
    auto options = TinyTPUOptions(Dir(), GetParam(), /*iterations_per_loop=*/5);
    options.config.save_checkpoints_steps = 10;
    return options;
  }
  static std::vector<int64_t> EvaluatedSteps(const TinyTPUEstimator& estimator) {
    const auto metrics = ReadEvalMetrics(estimator.EvalDir());
    EST_EXPECT_OK(metrics);
    std::vector<int64_t> steps;
    for (const auto& [step, values] : *metrics) steps.push_back(step);
    return steps;
  }
  const ServingInputReceiverFn raw_ =
      BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}});
};

TEST_P(TPUTrainAndEvaluateTest, EvaluatesAndExportsWhileItTrainsTheSameBits) {
  TinyTPUEstimator plain(Options());
  EST_ASSERT_OK(plain.Train(TinyTrainInput, MaxSteps(25)));

  TinyTPUEstimator estimator(Options());
  const auto result =
      TrainAndEvaluate(estimator, {.input_fn = TinyTrainInput, .max_steps = 25},
                       {.input_fn = TinyEvalInput,
                        .steps = std::nullopt,
                        .exporters = {std::make_shared<FinalExporter>(FinalExporter::Options{
                            .name = "final", .serving_input_receiver_fn = raw_})},
                        .throttle_secs = 0});
  EST_ASSERT_OK(result);
  EXPECT_THAT(EvaluatedSteps(estimator), ElementsAre(10, 20, 25));
  EXPECT_EQ(result->eval_result->num_examples, 20);
  ASSERT_EQ(result->export_results.size(), 1u);
  ASSERT_TRUE(result->export_results[0].has_value());
  EXPECT_TRUE(FileExists(JoinPath(*result->export_results[0], "saved_model.pb")));
  EXPECT_EQ(*CheckpointBits(**estimator.LatestCheckpoint()),
            *CheckpointBits(**plain.LatestCheckpoint()));
}

TEST_P(TPUTrainAndEvaluateTest, StopsEarly) {
  TinyTPUEstimator estimator(Options());
  EST_ASSERT_OK(TrainAndEvaluate(
      estimator,
      {.input_fn = TinyTrainInput,
       .max_steps = 100,
       .hooks = {StopIfHigherHook(estimator, "mae", 0, {.min_steps = 20, .run_every_steps = 1})}},
      {.input_fn = TinyEvalInput, .throttle_secs = 0}));
  EXPECT_THAT(EvaluatedSteps(estimator), ElementsAre(10, 20));
}

// A run has 5 steps on replicas, and 1 here.
TEST_P(TPUTrainAndEvaluateTest, EvaluatesInMemoryEveryNRuns) {
  TinyTPUEstimator estimator(Options());
  const auto hook = std::make_shared<InMemoryEvaluatorHook>(
      estimator, TinyEvalInput, InMemoryEvaluatorOptions{.every_n_iter = 2});
  const int64_t run = GetParam() == 0 ? 1 : 5;
  EST_ASSERT_OK(estimator.Train(TinyTrainInput, MaxSteps(3 * run), {.hooks = {hook}}));
  EXPECT_THAT(EvaluatedSteps(estimator), ElementsAre(0, 2 * run, 3 * run));
}

INSTANTIATE_TEST_SUITE_P(HereAndOnReplicas, TPUTrainAndEvaluateTest, ::testing::Values(0, 4));

}  // namespace
}  // namespace estimator::tpu
