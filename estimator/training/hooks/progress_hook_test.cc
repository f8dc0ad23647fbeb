#include "estimator/training/hooks/progress_hook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/ops/constant.h"
#include "estimator/training/testing/fake_session.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kNoTarget = std::numeric_limits<int64_t>::max();

// Each step takes half a second; the loss is 0.5.
class ProgressHookTest : public ::testing::Test {
 protected:
  ProgressHookTest() {
    const GraphScope scope(session_.fake_graph);
    loss_ = Constant(1.0f);
    session_.during_run = [this] { now_ += 0.5; };
  }
  ProgressHook Make(int64_t every_steps, int64_t target_step, bool terminal = false) {
    return ProgressHook({.loss = loss_,
                         .cadence = {.every_steps = every_steps, .every_secs = std::nullopt},
                         .target_step = target_step,
                         .terminal = terminal,
                         .clock = [this] { return now_; }});
  }
  void Runs(SessionRunHook& hook, int count) {
    for (int run = 0; run < count; ++run) EST_ASSERT_OK(session_.Run(hook));
  }

  testing::FakeSession session_;
  Tensor loss_;
  double now_ = 0;
};

TEST_F(ProgressHookTest, LogsStepLossSpeedAndTimeLeft) {
  session_.examples = 10;
  ProgressHook hook = Make(2, 10);
  EST_ASSERT_OK(session_.Start(hook));
  const testing::CapturedLog log;
  Runs(hook, 4);
  ASSERT_EQ(log.infos.size(), 3u);
  EXPECT_EQ(log.infos[0], "step 1/10, loss = 0.5");
  EXPECT_THAT(log.infos[1], HasSubstr("step 2/10, loss = 0.5, 20 examples/s, "));
  EXPECT_THAT(log.infos[1], HasSubstr(" left"));
  EXPECT_THAT(log.infos[2], HasSubstr("step 4/10, loss = 0.5, 20 examples/s, "));
}

TEST_F(ProgressHookTest, SaysHowTheTimeWentSinceTheLastLine) {
  session_.during_run = [this] {
    now_ += 1;
    session_.times().compute += 0.85;
    session_.times().input += 0.1;
    session_.stages = {{.stage = "Map", .seconds = now_, .advice = "do less"}};
  };
  ProgressHook hook = Make(2, 10);
  EST_ASSERT_OK(session_.Start(hook));
  const testing::CapturedLog log;
  Runs(hook, 4);
  ASSERT_EQ(log.infos.size(), 3u);
  EXPECT_THAT(log.infos[2], EndsWith(" (compute 85 %, input 10 %, other 5 %)"));
}

TEST_F(ProgressHookTest, NamesTheSlowestStageOfAnInputThatHoldsTrainingBack) {
  session_.during_run = [this] {
    now_ += 1;
    session_.times().compute += 0.5;
    session_.times().input += 0.5;
    session_.stages = {{.stage = "Map", .seconds = 0.1 * now_, .advice = "raise it"},
                       {.stage = "Batch(8)", .seconds = 5 + 0.05 * now_, .advice = ""}};
  };
  session_.stages = {{.stage = "Map", .seconds = 0, .advice = ""},
                     {.stage = "Batch(8)", .seconds = 5, .advice = ""}};
  ProgressHook hook = Make(1, 10);
  EST_ASSERT_OK(session_.Start(hook));
  const testing::CapturedLog log;
  Runs(hook, 1);
  EXPECT_THAT(log.infos,
              ElementsAre(EndsWith(" (compute 50 %, input 50 %); the slowest stage of the input is "
                                   "Map: raise it")));
}

TEST_F(ProgressHookTest, TheLastLineIsTheLossOfTheFinalStep) {
  ProgressHook hook = Make(100, 10);
  EST_ASSERT_OK(session_.Start(hook));
  Runs(hook, 3);
  const testing::CapturedLog log;
  EST_ASSERT_OK(hook.End(session_));
  EXPECT_THAT(log.infos, ElementsAre("loss for final step 3: 0.5"));
}

TEST_F(ProgressHookTest, WithoutARunThereIsNoLossToTell) {
  ProgressHook hook = Make(100, 10);
  EST_ASSERT_OK(session_.Start(hook));
  const testing::CapturedLog log;
  EST_ASSERT_OK(hook.End(session_));
  EXPECT_THAT(log.infos, IsEmpty());
}

TEST_F(ProgressHookTest, LeavesOutWhatIsNotKnown) {
  ProgressHook hook = Make(100, kNoTarget);
  EST_ASSERT_OK(session_.Start(hook));
  Runs(hook, 1);
  EXPECT_EQ(hook.Line(7, 0), "step 7, loss = 0.5");
  EXPECT_EQ(hook.Line(7, 2), "step 7, loss = 0.5, 2 steps/s");
}

TEST_F(ProgressHookTest, NothingIsLeftAtTheTarget) {
  ProgressHook hook = Make(100, 10);
  EST_ASSERT_OK(session_.Start(hook));
  EXPECT_EQ(hook.Line(10, 2), "step 10/10, loss = 0, 2 steps/s");
}

TEST_F(ProgressHookTest, InATerminalOneLineRenewsItself) {
  ProgressHook hook = Make(1, 10, /*terminal=*/true);
  EST_ASSERT_OK(session_.Start(hook));
  const testing::CapturedLog log;
  ::testing::internal::CaptureStderr();
  Runs(hook, 2);
  const std::string shown = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(shown, HasSubstr("\r\033[Kstep 1/10"));
  EXPECT_THAT(shown, HasSubstr("\r\033[Kstep 2/10"));
  EXPECT_THAT(log.infos, IsEmpty());
}

TEST_F(ProgressHookTest, ALineInATerminalIsEndedByTheEndOrByAnErrorOfTheRun) {
  for (const bool clean : {true, false}) {
    ::testing::internal::CaptureStderr();
    {
      ProgressHook hook = Make(1, 10, /*terminal=*/true);
      EST_EXPECT_OK(session_.Start(hook));
      Runs(hook, 2);
      const testing::CapturedLog log;
      if (clean) {
        EST_EXPECT_OK(hook.End(session_));
      }
    }
    const std::string shown = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(shown, HasSubstr(clean ? "step 2/10" : "step 4/10"));
    EXPECT_THAT(shown, HasSubstr("\r\n")) << "the line, and then its end";
    EXPECT_EQ(shown.find("\r\n"), shown.rfind("\r\n")) << "once";
  }
}

}  // namespace
}  // namespace estimator
