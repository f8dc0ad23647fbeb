#include "estimator/training/hooks/checkpoint_saver_hook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "estimator/base/testing/status_matchers.h"
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
  EST_ASSERT_OK(session.Start(hook));
  EXPECT_THAT(session.saved_steps, ElementsAre(0));
  EST_ASSERT_OK(session.Run(hook));
  EXPECT_THAT(session.saved_steps, ElementsAre(0));
  EST_ASSERT_OK(session.Run(hook));
  EXPECT_THAT(session.saved_steps, ElementsAre(0, 2));
  EST_ASSERT_OK(session.Run(hook));
  EST_ASSERT_OK(hook.End(session));
  EXPECT_THAT(session.saved_steps, ElementsAre(0, 2, 3));
}

TEST(CheckpointSaverHook, WaitsForTheFirstAndTheLastSaveOnly) {
  FakeSession session;
  CheckpointSaverHook hook = EverySteps(2);
  EST_ASSERT_OK(session.Start(hook));
  for (int run = 0; run < 3; ++run) EST_ASSERT_OK(session.Run(hook));
  EXPECT_EQ(session.num_finishes, 0);
  EST_ASSERT_OK(hook.End(session));
  EXPECT_THAT(session.saved_steps, ElementsAre(0, 2, 3));
  EXPECT_THAT(session.background_steps, ElementsAre(2));
  EXPECT_EQ(session.num_finishes, 1);
}

TEST(CheckpointSaverHook, WaitsForEverySaveThatAListenerAwaits) {
  struct Listener : CountingListener {
    bool AwaitsCheckpoint() const override { return awaits; }
    bool awaits = false;
  };
  for (const bool awaits : {false, true}) {
    FakeSession session;
    CheckpointSaverHook hook = EverySteps(1);
    const auto first = std::make_shared<Listener>(), second = std::make_shared<Listener>();
    second->awaits = awaits;
    hook.AddListeners({first, second});
    EST_ASSERT_OK(session.Start(hook));
    EST_ASSERT_OK(session.Run(hook));
    EXPECT_EQ(session.background_steps.size(), awaits ? 0u : 1u);
    EXPECT_THAT(first->after, ElementsAre(0, 1));
  }
}

// Behaviour J4.
TEST(CheckpointSaverHook, SavesNothingAtTheEndWhenTheStepHasNotMoved) {
  FakeSession session;
  CheckpointSaverHook hook = EverySteps(2);
  EST_ASSERT_OK(session.Start(hook));
  EST_ASSERT_OK(hook.End(session));
  EXPECT_THAT(session.saved_steps, ElementsAre(0));
}

TEST(CheckpointSaverHook, DoesNotSaveARestoredStepAgain) {
  FakeSession session;
  session.step = session.restored = 100;
  CheckpointSaverHook hook = EverySteps(2);
  EST_ASSERT_OK(session.Start(hook));
  EXPECT_THAT(session.saved_steps, IsEmpty());
  EST_ASSERT_OK(session.Run(hook));
  EST_ASSERT_OK(session.Run(hook));
  EXPECT_THAT(session.saved_steps, ElementsAre(102));
}

// Behaviour J5: the runs end at t = 0, 0.5, 2.5, 2.6, 2.7, 10.
TEST(CheckpointSaverHook, SavesEveryTwoSeconds) {
  double now = 0;
  FakeSession session;
  CheckpointSaverHook hook(
      {.cadence = {.every_steps = std::nullopt, .every_secs = 2}, .clock = [&now] { return now; }});
  EST_ASSERT_OK(hook.Begin(session.fake_graph));
  for (const double end : {0.0, 0.5, 2.5, 2.6, 2.7, 10.0}) {
    now = end;
    EST_ASSERT_OK(session.Run(hook));
  }
  EXPECT_THAT(session.saved_steps, ElementsAre(1, 3, 6));
}

// Behaviour J6.
TEST(CheckpointSaverHook, ListenersAreCalledAroundEverySave) {
  FakeSession session;
  CheckpointSaverHook hook = EverySteps(1);
  const auto listener = std::make_shared<CountingListener>();
  hook.AddListeners({listener});
  EST_ASSERT_OK(session.Start(hook));
  EST_ASSERT_OK(session.Run(hook));
  EST_ASSERT_OK(session.Run(hook));
  EST_ASSERT_OK(hook.End(session));
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
  EST_ASSERT_OK(session.Start(hook));
  EST_ASSERT_OK(session.Run(hook));
  EXPECT_FALSE(session.stop_requested);
  EST_ASSERT_OK(session.Run(hook));
  EXPECT_TRUE(session.stop_requested);
}

// Behaviour J8: without a start at step 0, as TensorFlow's table has it.
TEST(CheckpointSaverHook, WithFiveStepsARunSavesEveryTenAtFiveFifteenTwentyFive) {
  FakeSession session;
  session.steps_a_run = 5;
  CheckpointSaverHook hook = EverySteps(10);
  EST_ASSERT_OK(hook.Begin(session.fake_graph));
  for (int run = 0; run < 6; ++run) EST_ASSERT_OK(session.Run(hook));
  EXPECT_THAT(session.saved_steps, ElementsAre(5, 15, 25));
}

// Behaviour J8.
TEST(CheckpointSaverHook, WithFiveStepsARunAStartAtZeroSavesAtTenTwentyThirty) {
  FakeSession session;
  session.steps_a_run = 5;
  CheckpointSaverHook hook = EverySteps(10);
  EST_ASSERT_OK(session.Start(hook));
  for (int run = 0; run < 6; ++run) EST_ASSERT_OK(session.Run(hook));
  EXPECT_THAT(session.saved_steps, ElementsAre(0, 10, 20, 30));
}

// Behaviour J1.
TEST(CheckpointSaverHook, NeedsOneCadence) {
  FakeSession session;
  CheckpointSaverHook neither({.cadence = {}});
  EXPECT_THAT(session.Start(neither), StatusIs(absl::StatusCode::kInvalidArgument));
  CheckpointSaverHook both({.cadence = {.every_steps = 1, .every_secs = 1}});
  EXPECT_THAT(session.Start(both), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace estimator
