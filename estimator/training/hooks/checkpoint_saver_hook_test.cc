#include "estimator/training/hooks/checkpoint_saver_hook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "estimator/training/testing/fake_session.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using testing::FakeSession;
using ::testing::IsEmpty;

CheckpointSaverHook EverySteps(int64_t steps) {
  return CheckpointSaverHook({.cadence = {.every_steps = steps, .every_secs = std::nullopt}});
}

struct CountingListener : CheckpointSaverListener {
  absl::Status Begin() override { return ++begins, absl::OkStatus(); }
  absl::Status BeforeSave(Session&, int64_t step) override {
    return before.push_back(step), absl::OkStatus();
  }
  absl::StatusOr<bool> AfterSave(Session&, int64_t step) override {
    return after.push_back(step), step == stop_at;
  }
  absl::Status End(Session&, int64_t) override { return ++ends, absl::OkStatus(); }
  int begins = 0, ends = 0;
  std::vector<int64_t> before, after;
  int64_t stop_at = -1;
};

// Behaviour J4.
TEST(CheckpointSaverHook, SavesAtTheStartEveryTwoStepsAndAtTheEnd) {
  FakeSession session;
  CheckpointSaverHook hook = EverySteps(2);
  ASSERT_TRUE(session.Start(hook).ok());
  EXPECT_THAT(session.saved_steps, ElementsAre(0));
  ASSERT_TRUE(session.Run(hook).ok());
  EXPECT_THAT(session.saved_steps, ElementsAre(0));
  ASSERT_TRUE(session.Run(hook).ok());
  EXPECT_THAT(session.saved_steps, ElementsAre(0, 2));
  ASSERT_TRUE(session.Run(hook).ok());
  ASSERT_TRUE(hook.End(session).ok());
  EXPECT_THAT(session.saved_steps, ElementsAre(0, 2, 3));
}

// Behaviour J4.
TEST(CheckpointSaverHook, SavesNothingAtTheEndWhenTheStepHasNotMoved) {
  FakeSession session;
  CheckpointSaverHook hook = EverySteps(2);
  ASSERT_TRUE(session.Start(hook).ok());
  ASSERT_TRUE(hook.End(session).ok());
  EXPECT_THAT(session.saved_steps, ElementsAre(0));
}

TEST(CheckpointSaverHook, DoesNotSaveARestoredStepAgain) {
  FakeSession session;
  session.step = session.restored = 100;
  CheckpointSaverHook hook = EverySteps(2);
  ASSERT_TRUE(session.Start(hook).ok());
  EXPECT_THAT(session.saved_steps, IsEmpty());
  ASSERT_TRUE(session.Run(hook).ok());
  ASSERT_TRUE(session.Run(hook).ok());
  EXPECT_THAT(session.saved_steps, ElementsAre(102));
}

// Behaviour J5: the runs end at t = 0, 0.5, 2.5, 2.6, 2.7, 10.
TEST(CheckpointSaverHook, SavesEveryTwoSeconds) {
  double now = 0;
  FakeSession session;
  CheckpointSaverHook hook(
      {.cadence = {.every_steps = std::nullopt, .every_secs = 2}, .clock = [&now] { return now; }});
  ASSERT_TRUE(hook.Begin(session.fake_graph).ok());
  for (const double end : {0.0, 0.5, 2.5, 2.6, 2.7, 10.0}) {
    now = end;
    ASSERT_TRUE(session.Run(hook).ok());
  }
  EXPECT_THAT(session.saved_steps, ElementsAre(1, 3, 6));
}

// Behaviour J6.
TEST(CheckpointSaverHook, ListenersAreCalledAroundEverySave) {
  FakeSession session;
  CheckpointSaverHook hook = EverySteps(1);
  const auto listener = std::make_shared<CountingListener>();
  hook.AddListeners({listener});
  ASSERT_TRUE(session.Start(hook).ok());
  ASSERT_TRUE(session.Run(hook).ok());
  ASSERT_TRUE(session.Run(hook).ok());
  ASSERT_TRUE(hook.End(session).ok());
  EXPECT_EQ(listener->begins, 1);
  EXPECT_THAT(listener->before, ElementsAre(0, 1, 2));
  EXPECT_THAT(listener->after, ElementsAre(0, 1, 2));
  EXPECT_EQ(listener->ends, 1);
}

// Behaviour J6.
TEST(CheckpointSaverHook, AListenerThatReturnsTrueStopsTraining) {
  FakeSession session;
  CheckpointSaverHook hook = EverySteps(1);
  const auto listener = std::make_shared<CountingListener>();
  listener->stop_at = 2;
  hook.AddListeners({listener});
  ASSERT_TRUE(session.Start(hook).ok());
  ASSERT_TRUE(session.Run(hook).ok());
  EXPECT_FALSE(session.stop_requested);
  ASSERT_TRUE(session.Run(hook).ok());
  EXPECT_TRUE(session.stop_requested);
}

// Behaviour J8: without a start at step 0, as TensorFlow's table has it.
TEST(CheckpointSaverHook, WithFiveStepsARunSavesEveryTenAtFiveFifteenTwentyFive) {
  FakeSession session;
  session.steps_a_run = 5;
  CheckpointSaverHook hook = EverySteps(10);
  ASSERT_TRUE(hook.Begin(session.fake_graph).ok());
  for (int run = 0; run < 6; ++run) ASSERT_TRUE(session.Run(hook).ok());
  EXPECT_THAT(session.saved_steps, ElementsAre(5, 15, 25));
}

// Behaviour J8.
TEST(CheckpointSaverHook, WithFiveStepsARunAStartAtZeroSavesAtTenTwentyThirty) {
  FakeSession session;
  session.steps_a_run = 5;
  CheckpointSaverHook hook = EverySteps(10);
  ASSERT_TRUE(session.Start(hook).ok());
  for (int run = 0; run < 6; ++run) ASSERT_TRUE(session.Run(hook).ok());
  EXPECT_THAT(session.saved_steps, ElementsAre(0, 10, 20, 30));
}

// Behaviour J1.
TEST(CheckpointSaverHook, NeedsOneCadence) {
  FakeSession session;
  CheckpointSaverHook neither({.cadence = {}});
  EXPECT_TRUE(absl::IsInvalidArgument(session.Start(neither)));
  CheckpointSaverHook both({.cadence = {.every_steps = 1, .every_secs = 1}});
  EXPECT_TRUE(absl::IsInvalidArgument(session.Start(both)));
}

}  // namespace
}  // namespace estimator
