// StopAtStepHook, NanTensorHook and GlobalStepWaiterHook.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/ops/constant.h"
#include "estimator/training/hooks/global_step_waiter_hook.h"
#include "estimator/training/hooks/nan_tensor_hook.h"
#include "estimator/training/hooks/stop_at_step_hook.h"
#include "estimator/training/testing/fake_session.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FakeSession;
using ::testing::HasSubstr;

// The step at which the hook stops a session.
int64_t StopsAt(StopAtStepHook hook, int64_t from, int64_t steps_a_run = 1) {
  FakeSession session;
  session.step = from;
  session.steps_a_run = steps_a_run;
  EST_EXPECT_OK(session.Start(hook));
  for (int run = 0; run < 100 && !session.stop_requested; ++run) EST_EXPECT_OK(session.Run(hook));
  return session.step;
}

// Behaviour J2.
TEST(StopAtStepHook, NumStepsCountFromTheStart) {
  EXPECT_EQ(StopsAt(StopAtStepHook({.num_steps = 10}), 5), 15);
}

TEST(StopAtStepHook, StepsWithoutEndAreSteps) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(StopsAt(StopAtStepHook({.num_steps = kMost}), kMost - 2), kMost);
}

// Behaviour J2.
TEST(StopAtStepHook, LastStepIsAbsolute) {
  EXPECT_EQ(StopsAt(StopAtStepHook({.last_step = 10}), 5), 10);
  EXPECT_EQ(StopsAt(StopAtStepHook({.last_step = 10}), 5, 4), 13);
}

// Behaviour J2.
TEST(StopAtStepHook, NeedsOneOfBoth) {
  FakeSession session;
  StopAtStepHook neither({}), both({.num_steps = 1, .last_step = 1});
  EXPECT_THAT(session.Start(neither), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(session.Start(both), StatusIs(absl::StatusCode::kInvalidArgument));
}

class NanTensorHookTest : public ::testing::Test {
 protected:
  NanTensorHookTest() {
    const GraphScope scope(session_.fake_graph);
    loss_ = Constant(1.0f);
    session_.value = [this](const Tensor&) { return Array::Scalar(value_); };
  }
  FakeSession session_;
  Tensor loss_;
  float value_ = 1;
};

TEST_F(NanTensorHookTest, LetsANumberPass) {
  NanTensorHook hook(loss_);
  EST_EXPECT_OK(session_.Run(hook));
  EXPECT_FALSE(session_.stop_requested);
}

TEST_F(NanTensorHookTest, FailsAtANanNamingTheFirstTensorThatHasOne) {
  NanTensorHook hook(loss_);
  value_ = std::nanf("");
  EXPECT_THAT(session_.Run(hook),
              ErrorIs(AllOf(HasSubstr("NaN loss"), HasSubstr("dense/MatMul:0"))));
}

TEST_F(NanTensorHookTest, FailsAtAnInf) {
  NanTensorHook hook(loss_);
  value_ = std::numeric_limits<float>::infinity();
  EXPECT_THAT(session_.Run(hook), ErrorHas("Inf loss"));
}

TEST_F(NanTensorHookTest, WarnsAndStopsWhereItMayNotFail) {
  const testing::CapturedLog log;
  NanTensorHook hook(loss_, /*fail_on_nan_loss=*/false);
  value_ = std::nanf("");
  EST_EXPECT_OK(session_.Run(hook));
  EXPECT_TRUE(session_.stop_requested);
  EXPECT_THAT(log.warnings, ElementsAre(HasSubstr("NaN loss")));
}

// Behaviour J11.
TEST(GlobalStepWaiterHook, WaitsUntilTheStepIsThere) {
  FakeSession session;
  int num_sleeps = 0;
  GlobalStepWaiterHook hook(1000, [&](double secs) {
    EXPECT_EQ(secs, 0.5);
    ++num_sleeps;
    session.step += 550;
  });
  RunContext context(session, 0);
  hook.BeforeRun(context);
  EXPECT_EQ(session.step, 1100);
  EXPECT_EQ(num_sleeps, 2);
  session.step = 0;
  hook.BeforeRun(context);  // it waits once
  EXPECT_EQ(num_sleeps, 2);
}

// Behaviour J11.
TEST(GlobalStepWaiterHook, AStepOfZeroWaitsForNothing) {
  FakeSession session;
  GlobalStepWaiterHook hook(0, [](double) { FAIL() << "slept"; });
  RunContext context(session, 0);
  hook.BeforeRun(context);
}

}  // namespace
}  // namespace estimator
