// InMemoryEvaluatorHook: evaluations during training, without checkpoints.
#include "estimator/training/in_memory_evaluator_hook.h"

#include <memory>
#include <string>
#include <vector>

#include "estimator/base/interrupt.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/training/early_stopping.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Dataset TrainInput(const TinyParams&) { return TinyDataset(4).Repeat(); }
Dataset EvalInput(const TinyParams&) { return TinyDataset(6); }

class InMemoryEvaluatorHookTest : public ::testing::Test {
 protected:
  void TearDown() override { ClearInterrupt(); }
  // step -> loss of the evaluations.
  static std::vector<std::pair<int64_t, double>> Losses(const Estimator<TinyParams>& estimator,
                                                        const std::string& name = "") {
    const auto metrics = ReadEvalMetrics(estimator.EvalDir(name));
    EST_EXPECT_OK(metrics);
    std::vector<std::pair<int64_t, double>> losses;
    for (const auto& [step, values] : *metrics) losses.emplace_back(step, values.at("loss"));
    return losses;
  }
  TempDir dir_;
};

TEST_F(InMemoryEvaluatorHookTest, IsInThePlanOfTheTraining) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  const auto hook = std::make_shared<InMemoryEvaluatorHook>(
      estimator, EvalInput, InMemoryEvaluatorOptions{.every_n_iter = 4});
  const testing::CapturedLog log;
  EST_ASSERT_OK(estimator.Train(TrainInput, MaxSteps(2), {.hooks = {hook}}));
  EXPECT_THAT(log.infos, Contains(HasSubstr("; an evaluation in memory every 4 steps; ")));
}

// Behaviour I8: each evaluation has the loss of the weights of its step.
TEST_F(InMemoryEvaluatorHookTest, EvaluatesTheWeightsOfTheStep) {
  auto options = TinyOptions(dir_.File("m"));
  options.config.save_checkpoints_steps = 1;
  options.config.keep_checkpoint_max = std::nullopt;
  Estimator<TinyParams> estimator(options);
  const auto hook = std::make_shared<InMemoryEvaluatorHook>(
      estimator, EvalInput, InMemoryEvaluatorOptions{.every_n_iter = 4});
  EST_ASSERT_OK(estimator.Train(TrainInput, MaxSteps(10), {.hooks = {hook}}));
  const auto losses = Losses(estimator);
  std::vector<int64_t> steps;
  for (const auto& [step, loss] : losses) {
    steps.push_back(step);
    const auto result = estimator.Evaluate(
        EvalInput,
        {.checkpoint_path = dir_.File("m/model.ckpt-" + std::to_string(step)), .name = "disk"});
    EST_ASSERT_OK(result);
    EXPECT_EQ(static_cast<float>((*result)["loss"]), static_cast<float>(loss)) << step;
  }
  EXPECT_THAT(steps, ElementsAre(0, 4, 8, 10));
}

TEST_F(InMemoryEvaluatorHookTest, NeedsNoCheckpointAndChangesNoBitOfTheTraining) {
  auto options = TinyOptions(dir_.File("m"));
  options.config.save_checkpoints_steps = std::nullopt;
  options.config.disable_checkpoints = true;
  Estimator<TinyParams> estimator(options);
  const auto recorder = std::make_shared<RunRecorder>();
  const auto hook = std::make_shared<InMemoryEvaluatorHook>(
      estimator, EvalInput,
      InMemoryEvaluatorOptions{.steps = 2, .name = "memory", .every_n_iter = 5});
  EST_ASSERT_OK(estimator.Train(TrainInput, MaxSteps(10), {.hooks = {hook, recorder}}));
  EXPECT_EQ(Losses(estimator, "memory").size(), 3u) << "0, 5, 10, and 10 only once";

  options.config.model_dir = dir_.File("plain");
  Estimator<TinyParams> plain(options);
  const auto expected = std::make_shared<RunRecorder>();
  EST_ASSERT_OK(plain.Train(TrainInput, MaxSteps(10), {.hooks = {expected}}));
  EXPECT_EQ(recorder->losses, expected->losses);
}

// An Evaluate of a checkpoint after the hook must not take the hook's copy of the variables.
TEST_F(InMemoryEvaluatorHookTest, AnEvaluationAfterItReadsTheCheckpointAgain) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  EST_ASSERT_OK(estimator.Train(TrainInput, MaxSteps(5)));
  const std::string five = **estimator.LatestCheckpoint();
  const auto before = estimator.Evaluate(EvalInput, {.checkpoint_path = five});
  EST_ASSERT_OK(before);
  const auto hook = std::make_shared<InMemoryEvaluatorHook>(estimator, EvalInput);
  EST_ASSERT_OK(estimator.Train(TrainInput, MaxSteps(10), {.hooks = {hook}}));
  const auto after = estimator.Evaluate(EvalInput, {.checkpoint_path = five});
  EST_ASSERT_OK(after);
  EXPECT_EQ((*before)["loss"], (*after)["loss"]);
  EXPECT_EQ(after->global_step(), 5);
}

// Behaviour I9: what is refused here. A Scaffold's names of variables are followed.
TEST_F(InMemoryEvaluatorHookTest, RefusesAnIntervalOfZeroAndAnotherEstimator) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  const auto zero = std::make_shared<InMemoryEvaluatorHook>(
      estimator, EvalInput, InMemoryEvaluatorOptions{.every_n_iter = 0});
  EXPECT_THAT(estimator.Train(TrainInput, MaxSteps(5), {.hooks = {zero}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("invalid every_n_iter=0")));
  Estimator<TinyParams> other(TinyOptions(dir_.File("other")));
  const auto foreign = std::make_shared<InMemoryEvaluatorHook>(other, EvalInput);
  EXPECT_THAT(estimator.Train(TrainInput, MaxSteps(5), {.hooks = {foreign}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("another Estimator")));
}

TEST_F(InMemoryEvaluatorHookTest, AnInterruptDuringTheEvaluationStillSaves) {
  class InterruptHook : public SessionRunHook {
    absl::Status AfterRun(RunContext&, const RunValues&) override {
      if (++num_batches_ == 6) RequestInterruptForTest();
      return absl::OkStatus();
    }
    int num_batches_ = 0;
  };
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  // An evaluation has 4 batches: the second one, after step 3, is interrupted.
  const auto hook = std::make_shared<InMemoryEvaluatorHook>(
      estimator, EvalInput,
      InMemoryEvaluatorOptions{.hooks = {std::make_shared<InterruptHook>()}, .every_n_iter = 3});
  EXPECT_THAT(
      estimator.Train(TrainInput, MaxSteps(10), {.hooks = {hook}}),
      StatusIs(absl::StatusCode::kCancelled, HasSubstr("interrupted at step 3; saved in ")));
}

}  // namespace
}  // namespace estimator
