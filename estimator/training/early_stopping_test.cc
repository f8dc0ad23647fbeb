// Early stopping hooks, on histories of metrics in event files.
#include "estimator/training/early_stopping.h"

#include <memory>
#include <string>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/summary/event_file_writer.h"
#include "estimator/training/testing/fake_session.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::estimator::testing::FakeSession;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EarlyStoppingTest : public ::testing::Test {
 protected:
  void Write(const std::string& tag, const std::vector<std::pair<int64_t, float>>& history,
             const std::string& name = "") {
    const auto writer = EventFileWriter::Open(estimator_.EvalDir(name), "." + tag);
    EST_ASSERT_OK(writer);
    for (const auto& [step, value] : history) EST_ASSERT_OK((*writer)->AddScalar(tag, value, step));
    EST_ASSERT_OK((*writer)->Flush());
  }
  // Accuracy and loss of TensorFlow's test.
  void WriteHistories() {
    Write("accuracy", {{1000, 0.5f}, {2000, 0.6f}, {3000, 0.7f}, {3500, 0.69f}});
    Write("loss", {{1000, 0.8f}, {2000, 0.7f}, {3000, 0.4f}, {3500, 0.41f}});
  }
  // Whether the hook stops in the first run, which ends at `step`.
  static absl::StatusOr<bool> Stops(const std::shared_ptr<SessionRunHook>& hook,
                                    int64_t step = 4000) {
    FakeSession session;
    session.step = step - 1;
    EST_RETURN_IF_ERROR(session.Start(*hook));
    EST_RETURN_IF_ERROR(session.Run(*hook));
    return session.stop_requested;
  }

  TempDir dir_;
  Estimator<TinyParams> estimator_{TinyOptions(dir_.File("m"))};
};

// Behaviour I5.
TEST_F(EarlyStoppingTest, StopsIfAMetricIsHigher) {
  WriteHistories();
  EXPECT_FALSE(*Stops(StopIfHigherHook(estimator_, "accuracy", 0.8)));
  EXPECT_TRUE(*Stops(StopIfHigherHook(estimator_, "accuracy", 0.6)));
  EXPECT_FALSE(*Stops(StopIfHigherHook(estimator_, "accuracy", 0.6, {.min_steps = 4000})));
  EXPECT_FALSE(*Stops(StopIfNoIncreaseHook(estimator_, "accuracy", 1000)));
  EXPECT_TRUE(*Stops(StopIfNoIncreaseHook(estimator_, "accuracy", 500)));
}

// Behaviour I6.
TEST_F(EarlyStoppingTest, StopsIfAMetricIsLowerOrNoLongerImproves) {
  WriteHistories();
  EXPECT_TRUE(*Stops(StopIfLowerHook(estimator_, "loss", 0.5)));
  EXPECT_FALSE(*Stops(StopIfLowerHook(estimator_, "loss", 0.3)));
  EXPECT_TRUE(*Stops(StopIfNoDecreaseHook(estimator_, "loss", 500)));
  EXPECT_FALSE(*Stops(StopIfNoDecreaseHook(estimator_, "loss", 1500)));
  EXPECT_FALSE(*Stops(StopIfNoDecreaseHook(estimator_, "loss", 500, {.min_steps = 3200})));
}

// Behaviour I7.
TEST_F(EarlyStoppingTest, DamagedAndMissingEventFilesAreNoError) {
  EXPECT_FALSE(*Stops(StopIfLowerHook(estimator_, "loss", 0.5)));
  EST_ASSERT_OK(CreateDirectories(estimator_.EvalDir()));
  EXPECT_FALSE(*Stops(StopIfLowerHook(estimator_, "loss", 0.5)));
  EXPECT_TRUE(ReadEvalMetrics(estimator_.EvalDir())->empty());
  WriteHistories();
  const auto path = *Glob(JoinPath(estimator_.EvalDir(), "*.loss"));
  ASSERT_EQ(path.size(), 1u);
  const std::string bytes = *ReadFile(path[0]);
  EST_ASSERT_OK(WriteFileAtomically(path[0], bytes.substr(0, bytes.size() - 20)));
  const auto metrics = ReadEvalMetrics(estimator_.EvalDir());
  EST_ASSERT_OK(metrics);
  EXPECT_EQ(metrics->at(3000).at("loss"), 0.4f);
  EXPECT_EQ(metrics->at(3500).count("loss"), 0u) << "the rest of the file is skipped";
  EXPECT_EQ(metrics->at(3500).at("accuracy"), 0.69f);
  EXPECT_TRUE(*Stops(StopIfLowerHook(estimator_, "loss", 0.5)));
}

TEST_F(EarlyStoppingTest, ReadsTheFolderOfANamedEvaluation) {
  Write("loss", {{1000, 0.1f}}, "validation");
  EXPECT_FALSE(*Stops(StopIfLowerHook(estimator_, "loss", 0.5)));
  EXPECT_TRUE(*Stops(
      StopIfLowerHook(estimator_, "loss", 0.5, {.eval_dir = estimator_.EvalDir("validation")})));
}

// As a pattern, the name of this folder would match others, but not itself.
TEST_F(EarlyStoppingTest, ReadsAFolderWithBracketsInItsName) {
  Estimator<TinyParams> estimator{TinyOptions(dir_.File("lr=[0.05,2]"))};
  const auto writer = EventFileWriter::Open(estimator.EvalDir(), ".loss");
  EST_ASSERT_OK(writer);
  EST_ASSERT_OK((*writer)->AddScalar("loss", 0.4f, 3000));
  EST_ASSERT_OK((*writer)->Flush());
  EXPECT_TRUE(*Stops(StopIfLowerHook(estimator, "loss", 0.5)));
}

// After going back to an earlier checkpoint, the evaluations of the later ones are still on disk.
TEST_F(EarlyStoppingTest, EvaluationsOfLaterStepsDoNotCount) {
  WriteHistories();
  EXPECT_TRUE(*Stops(StopIfNoDecreaseHook(estimator_, "loss", 500), 3500));
  EXPECT_FALSE(*Stops(StopIfNoDecreaseHook(estimator_, "loss", 500), 3001));
  EXPECT_FALSE(*Stops(StopIfLowerHook(estimator_, "loss", 0.5), 2001));
}

TEST_F(EarlyStoppingTest, AnEqualValueIsNeitherHigherNorLower) {
  Write("auc", {{1000, 0.5f}, {2000, 0.5f}});
  EXPECT_FALSE(*Stops(StopIfHigherHook(estimator_, "auc", 0.5)));
  EXPECT_FALSE(*Stops(StopIfLowerHook(estimator_, "auc", 0.5)));
  EXPECT_TRUE(*Stops(StopIfNoIncreaseHook(estimator_, "auc", 1000)));
  EXPECT_TRUE(*Stops(StopIfNoDecreaseHook(estimator_, "auc", 1000)));
  EXPECT_FALSE(*Stops(StopIfNoDecreaseHook(estimator_, "auc", 1001)));
  // min_steps is the first step that counts.
  EXPECT_TRUE(*Stops(StopIfHigherHook(estimator_, "auc", 0.4, {.min_steps = 2000})));
  EXPECT_FALSE(*Stops(StopIfHigherHook(estimator_, "auc", 0.4, {.min_steps = 2001})));
}

TEST_F(EarlyStoppingTest, ANaNIsNoBestValue) {
  Write("loss", {{1000, std::nanf("")}, {2000, 0.7f}, {3000, 0.6f}});
  EXPECT_FALSE(*Stops(StopIfNoDecreaseHook(estimator_, "loss", 2000)));
}

TEST_F(EarlyStoppingTest, AMetricThatIsNotThereIsNamedWithThoseThatAre) {
  WriteHistories();
  EXPECT_THAT(Stops(StopIfLowerHook(estimator_, "los", 0.5)),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("have no metric 'los'; they have accuracy, loss")));
}

TEST_F(EarlyStoppingTest, DecidesEveryNSteps) {
  FakeSession session;
  std::vector<int64_t> asked;
  const auto hook = MakeEarlyStoppingHook(estimator_,
                                          [&] {
                                            asked.push_back(session.step);
                                            return session.step >= 8;
                                          },
                                          {.run_every_steps = 3});
  EST_ASSERT_OK(session.Start(*hook));
  while (!session.stop_requested) EST_ASSERT_OK(session.Run(*hook));
  EXPECT_THAT(asked, ElementsAre(1, 4, 7, 10));
}

TEST_F(EarlyStoppingTest, DecidesEverySixtySecondsByDefault) {
  FakeSession session;
  double now = 0;
  std::vector<int64_t> asked;
  const auto hook = MakeEarlyStoppingHook(estimator_,
                                          [&] {
                                            asked.push_back(session.step);
                                            return false;
                                          },
                                          {.clock = [&] { return now; }});
  EST_ASSERT_OK(session.Start(*hook));
  for (const double at : {0.0, 59.0, 60.0, 100.0, 121.0}) {
    now = at;
    EST_ASSERT_OK(session.Run(*hook));
  }
  EXPECT_THAT(asked, ElementsAre(1, 3, 5));
}

TEST_F(EarlyStoppingTest, RefusesTwoIntervalsAndNoFunction) {
  const auto never = [] { return false; };
  EXPECT_THAT(Stops(MakeEarlyStoppingHook(estimator_, never,
                                          {.run_every_secs = 60, .run_every_steps = 10})),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not both")));
  EXPECT_THAT(Stops(MakeEarlyStoppingHook(estimator_, never, {.run_every_steps = 0})),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("must be > 0")));
  EXPECT_THAT(Stops(MakeEarlyStoppingHook(estimator_, nullptr)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("should_stop_fn")));
}

TEST_F(EarlyStoppingTest, AnErrorOfTheFunctionEndsTraining) {
  const auto hook = MakeEarlyStoppingHook(
      estimator_, []() -> absl::StatusOr<bool> { return absl::DataLossError("no disk"); });
  EXPECT_THAT(estimator_.Train([](const TinyParams&) { return TinyDataset(5).Repeat(); },
                               MaxSteps(5), {.hooks = {hook}}),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("no disk")));
}

}  // namespace
}  // namespace estimator
