// Lengths and periods in epochs and examples, the plan in the log, and inputs that changed.
#include <memory>

#include "estimator/base/file_system.h"
#include "estimator/base/path.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/training/hooks/planned_work.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// 20 examples, 4 in a step: 5 steps are an epoch.
Dataset Batches(const TinyParams&) {
  return Dataset::FromTensorSlices(TinyExamples()).Shuffle(20).Repeat().Batch(4).Prefetch(2);
}
Dataset OtherBatches(const TinyParams&) {
  return Dataset::FromTensorSlices(TinyExamples()).Repeat().Batch(4).Prefetch(2);
}

class PlanTest : public ::testing::Test {
 protected:
  Estimator<TinyParams>::Options Options() { return TinyOptions(dir_.File("model")); }
  bool HasCheckpoint(int64_t step) {
    return FileExists(JoinPath(dir_.File("model"), absl::StrCat("model.ckpt-", step, ".index")));
  }
  static int64_t StepOf(const Estimator<TinyParams>& estimator) {
    return *LoadGlobalStep(**estimator.LatestCheckpoint());
  }
  TempDir dir_;
};

TEST_F(PlanTest, TrainingEndsAfterEpochs) {
  Estimator<TinyParams> estimator(Options());
  EST_ASSERT_OK(estimator.Train(Batches, MaxEpochs(1.5)));
  EXPECT_EQ(StepOf(estimator), 8);  // 7.5, rounded up
  EST_ASSERT_OK(estimator.Train(Batches, MaxExamples(40)));
  EXPECT_EQ(StepOf(estimator), 10);
  // It is a maximum, so a training that is there has nothing to do.
  const testing::CapturedLog log;
  EST_ASSERT_OK(estimator.Train(Batches, MaxEpochs(2)));
  EXPECT_THAT(log.infos, Contains(HasSubstr("Skipping training since max_steps (10)")));
}

// Resolving the length must not move the input.
TEST_F(PlanTest, ALengthInEpochsReadsTheSameData) {
  Estimator<TinyParams> in_epochs(Options());
  EST_ASSERT_OK(in_epochs.Train(Batches, MaxEpochs(1)));
  EST_ASSERT_OK(in_epochs.Train(Batches, MaxEpochs(2)));
  Estimator<TinyParams> in_steps(TinyOptions(dir_.File("steps")));
  EST_ASSERT_OK(in_steps.Train(Batches, MaxSteps(10)));
  EXPECT_EQ(*CheckpointBits(**in_epochs.LatestCheckpoint()),
            *CheckpointBits(**in_steps.LatestCheckpoint()));
}

TEST_F(PlanTest, CheckpointsAreSavedEveryEpoch) {
  auto options = Options();
  options.config.save_checkpoints_steps = std::nullopt;
  options.config.save_checkpoints_every = Period::Epochs(1);
  Estimator<TinyParams> estimator(std::move(options));
  const testing::CapturedLog log;
  EST_ASSERT_OK(estimator.Train(Batches, MaxSteps(12)));
  EXPECT_TRUE(HasCheckpoint(5));
  EXPECT_TRUE(HasCheckpoint(10));
  EXPECT_FALSE(HasCheckpoint(6));
  EXPECT_THAT(
      log.infos,
      Contains(HasSubstr("steps 0 to 12, 2.4 epochs of 20 examples; a checkpoint every 5 steps")));
}

// A program that calls Train several times logs one plan before its first step.
TEST_F(PlanTest, NamesTheEvaluationsThatTheProgramCalls) {
  Estimator<TinyParams> estimator(Options());
  const auto plan = std::make_shared<ProgramPlanHook>(
      ProgramPlan{.train_steps = 10, .steps_per_eval = 5, .afterwards = {"2 predictions"}});
  const testing::CapturedLog log;
  for (const int64_t step : {5, 10}) {
    EST_ASSERT_OK(estimator.Train(Batches, MaxSteps(step), {.hooks = {plan}}));
    EST_ASSERT_OK(estimator.Evaluate(
        [](const TinyParams&) { return Dataset::FromTensorSlices(TinyExamples()).Batch(4); }));
  }
  EXPECT_EQ(StepOf(estimator), 10);
  EXPECT_THAT(log.infos,
              Contains(HasSubstr("steps 0 to 10, 2 epochs of 20 examples; an evaluation every 5 "
                                 "steps (2 in all); a checkpoint every ")));
  EXPECT_THAT(log.infos, Contains(HasSubstr("; afterwards 2 predictions")));
}

TEST_F(PlanTest, AnEpochThatIsNotKnownIsAskedFor) {
  Estimator<TinyParams> estimator(Options());
  const auto filtered = [](const TinyParams& params) {
    return Batches(params).Filter([](const Element&) { return true; });
  };
  EXPECT_THAT(estimator.Train(filtered, MaxEpochs(1)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("set RunConfig.examples_per_epoch")));
  auto options = Options();
  options.config.examples_per_epoch = 20;
  Estimator<TinyParams> knows(std::move(options));
  EST_ASSERT_OK(knows.Train(filtered, MaxEpochs(1)));
  EXPECT_EQ(StepOf(knows), 5);
}

TEST_F(PlanTest, TwoPeriodsForCheckpointsAreRefused) {
  auto options = Options();  // has save_checkpoints_steps
  options.config.save_checkpoints_every = Period::Epochs(1);
  Estimator<TinyParams> estimator(std::move(options));
  EXPECT_THAT(estimator.Train(Batches, MaxSteps(1)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("save_checkpoints_every cannot be set with")));
}

TEST_F(PlanTest, AnotherPipelineRestartsOrFailsAsTheConfigSays) {
  Estimator<TinyParams> first(Options());
  EST_ASSERT_OK(first.Train(Batches, MaxSteps(5)));
  auto options = Options();
  options.config.on_input_change = RunConfig::OnInputChange::kFail;
  Estimator<TinyParams> fails(std::move(options));
  EXPECT_THAT(fails.Train(OtherBatches, MaxSteps(6)),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("on_input_change")));
  const testing::CapturedLog log;
  Estimator<TinyParams> restarts(Options());
  EST_ASSERT_OK(restarts.Train(OtherBatches, MaxSteps(6)));
  EXPECT_THAT(log.warnings, Contains(HasSubstr("The input starts at its beginning")));
}

TEST_F(PlanTest, AdviceOnTheInputIsLoggedBeforeTheFirstStep) {
  Estimator<TinyParams> estimator(Options());
  const testing::CapturedLog log;
  EST_ASSERT_OK(estimator.Train(
      [](const TinyParams&) {
        return Dataset::FromTensorSlices(TinyExamples()).Shuffle(2).Batch(4);
      },
      MaxSteps(1)));
  EXPECT_THAT(log.infos, Contains(HasSubstr("Shuffle(2) mixes only 2 of 20 examples")));
  EXPECT_THAT(log.infos, Not(Contains(HasSubstr("end the input with Prefetch"))));
  EXPECT_THAT(log.infos, Contains(HasSubstr("Shuffle(2) > Batch(4) > Prefetch(2)")));
}

}  // namespace
}  // namespace estimator
