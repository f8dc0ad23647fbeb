// What TensorBoard shows of runs that were killed or went back to an earlier checkpoint.
#include <memory>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/checkpoint_state.h"
#include "estimator/summary/event_file_writer.h"
#include "estimator/summary/event_reader.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;

Dataset Endless(const TinyParams&) { return TinyDataset(5).Repeat(); }
Dataset Once(const TinyParams&) { return TinyDataset(8); }

class FailAtStep : public SessionRunHook {
 public:
  explicit FailAtStep(int64_t step) : step_(step) {}
  absl::Status AfterRun(RunContext&, const RunValues& values) override {
    return values.global_step == step_ ? absl::InternalError("killed") : absl::OkStatus();
  }

 private:
  const int64_t step_;
};

class EventSessionsTest : public ::testing::Test {
 protected:
  // Each estimator is a process of its own: it writes a new event file.
  Estimator<TinyParams> NewProcess(int64_t save_summary_steps = 1) {
    EST_EXPECT_OK(CloseAllEventFileWriters());
    auto options = TinyOptions(dir_.path());
    options.config.save_checkpoints_steps = 20;
    options.config.keep_checkpoint_max = 0;
    options.config.save_summary_steps = save_summary_steps;
    options.config.log_step_count_steps = 10;
    return Estimator<TinyParams>(options);
  }
  void GoBackTo(int64_t step) {
    EST_ASSERT_OK(WriteCheckpointState(
        dir_.path(), {.model_checkpoint_path = dir_.File(absl::StrCat("model.ckpt-", step))}));
  }
  // The steps of a tag as TensorBoard shows them, in its order.
  std::vector<int64_t> Shown(const std::string& tag, const std::string& folder = "") {
    EST_EXPECT_OK(CloseAllEventFileWriters());
    std::vector<int64_t> steps;
    const auto records = ReadEventDirectory(JoinPath(dir_.path(), folder));
    EST_EXPECT_OK(records);
    for (const SummaryRecord& record : *records) {
      if (record.tag == tag) steps.push_back(record.step);
    }
    return steps;
  }
  static std::vector<int64_t> OneTo(int64_t last) {
    std::vector<int64_t> steps;
    for (int64_t step = 1; step <= last; ++step) steps.push_back(step);
    return steps;
  }

  TempDir dir_;
};

// Fixed bug: the curve went to step 60, jumped back to 20 and was drawn again.
TEST_F(EventSessionsTest, AfterGoingBackNoDiscardedStepIsShownAndNoneTwice) {
  EST_ASSERT_OK(NewProcess().Train(Endless, MaxSteps(60)));
  EXPECT_EQ(Shown("loss"), OneTo(60));
  GoBackTo(20);
  EST_ASSERT_OK(NewProcess().Train(Endless, MaxSteps(45)));
  EXPECT_EQ(Shown("loss"), OneTo(45));
  EXPECT_THAT(Shown("global_step/sec"), ElementsAre(11, 31, 41));
  EST_ASSERT_OK(NewProcess().Train(Endless, MaxSteps(50)));
  EXPECT_EQ(Shown("loss"), OneTo(50));
}

// Fixed bug: the steps between the last checkpoint and the kill were there twice.
TEST_F(EventSessionsTest, AfterAKillTheRepeatedStepsAreShownOnce) {
  Estimator<TinyParams> killed = NewProcess();
  EXPECT_THAT(killed.Train(Endless, MaxSteps(60), {.hooks = {std::make_shared<FailAtStep>(47)}}),
              StatusIs(absl::StatusCode::kInternal));
  EXPECT_EQ(Shown("loss").size(), 47u);
  EST_ASSERT_OK(NewProcess().Train(Endless, MaxSteps(60)));
  EXPECT_EQ(Shown("loss"), OneTo(60));
}

TEST_F(EventSessionsTest, ARunThatBeginsAnewDiscardsEverything) {
  EST_ASSERT_OK(NewProcess().Train(Endless, MaxSteps(30)));
  const std::vector<std::string> files = *Glob(dir_.File("model.ckpt-*"));
  for (const std::string& file : files) EST_ASSERT_OK(RemoveFile(file));
  EST_ASSERT_OK(RemoveFile(dir_.File("checkpoint")));
  EST_ASSERT_OK(NewProcess().Train(Endless, MaxSteps(8)));
  EXPECT_EQ(Shown("loss"), OneTo(8));
}

TEST_F(EventSessionsTest, SeveralCallsOfTrainShowEveryStepOnce) {
  Estimator<TinyParams> estimator = NewProcess();
  for (int call = 0; call < 3; ++call) EST_ASSERT_OK(estimator.Train(Endless, Steps(7)));
  EXPECT_EQ(Shown("loss"), OneTo(21));
}

TEST_F(EventSessionsTest, EvaluationsOfDiscardedCheckpointsAreNotShown) {
  {
    Estimator<TinyParams> estimator = NewProcess();
    for (const int step : {20, 40, 60}) {
      EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(step)));
      EST_ASSERT_OK(estimator.Evaluate(Once));
      EST_ASSERT_OK(estimator.Evaluate(Once, {.name = "other"}));
    }
  }
  EXPECT_THAT(Shown("mae", "eval"), ElementsAre(20, 40, 60));
  GoBackTo(20);
  Estimator<TinyParams> estimator = NewProcess();
  EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(40)));
  EST_ASSERT_OK(estimator.Evaluate(Once));
  EST_ASSERT_OK(estimator.Evaluate(Once, {.name = "other"}));
  EXPECT_THAT(Shown("mae", "eval"), ElementsAre(20, 40));
  EXPECT_THAT(Shown("mae", "eval_other"), ElementsAre(20, 40));
}

TEST_F(EventSessionsTest, AnEvaluationOfAnOlderCheckpointDiscardsNothing) {
  Estimator<TinyParams> estimator = NewProcess();
  EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(40)));
  EST_ASSERT_OK(estimator.Evaluate(Once));
  EST_ASSERT_OK(estimator.Evaluate(Once, {.checkpoint_path = dir_.File("model.ckpt-20")}));
  EXPECT_THAT(Shown("mae", "eval"), ElementsAre(40, 20));
}

TEST_F(EventSessionsTest, EvaluationsThatAnotherProcessWritesMeanwhileAreShown) {
  EST_ASSERT_OK(NewProcess().Train(Endless, MaxSteps(40)));
  EST_ASSERT_OK(NewProcess().Evaluate(Once));
  EST_ASSERT_OK(CloseAllEventFileWriters());
  Estimator<TinyParams> estimator = NewProcess();
  EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(60)));
  {
    const auto other = EventFileWriter::Open(dir_.File("eval"), ".of_evaluator");
    EST_ASSERT_OK(other);
    EST_ASSERT_OK((*other)->AddScalar("mae", 1, 50));
    EST_ASSERT_OK((*other)->Flush());
  }
  EST_ASSERT_OK(estimator.Evaluate(Once));
  EXPECT_THAT(Shown("mae", "eval"), ::testing::UnorderedElementsAre(40, 50, 60));
}

// Fixed bug: the last events stayed in memory when the process ended.
TEST_F(EventSessionsTest, TheSpeedIsOnDiskWithoutSummaries) {
  EST_ASSERT_OK(NewProcess(/*save_summary_steps=*/0).Train(Endless, MaxSteps(15)));
  const auto scalars = ReadScalars(dir_.path());
  EST_ASSERT_OK(scalars);
  EXPECT_EQ(scalars->count(11), 1u) << "a process that ends now has written it";
}

}  // namespace
}  // namespace estimator
