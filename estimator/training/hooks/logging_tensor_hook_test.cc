#include "estimator/training/hooks/logging_tensor_hook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/ops/constant.h"
#include "estimator/training/testing/fake_session.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A hook on the tensor "t", whose value is the step.
class LoggingTensorHookTest : public ::testing::Test {
 protected:
  LoggingTensorHookTest() {
    const GraphScope scope(session_.fake_graph);
    tensor_ = Constant(1.0f);
    session_.value = [this](const Tensor&) { return Array::Scalar<int64_t>(session_.step); };
  }
  std::unique_ptr<LoggingTensorHook> Make(LoggingTensorHook::Options options) {
    options.tensors = {{"t", tensor_}};
    options.sink = [this](const std::string& line) { lines_.push_back(line); };
    options.clock = [this] { return now_; };
    return std::make_unique<LoggingTensorHook>(std::move(options));
  }
  void Runs(SessionRunHook& hook, int count) {
    for (int run = 0; run < count; ++run) {
      EST_ASSERT_OK(session_.Run(hook));
      now_ += 0.25;
    }
  }

  testing::FakeSession session_;
  Tensor tensor_;
  double now_ = 0;
  std::vector<std::string> lines_;
};

// Behaviour J3.
TEST_F(LoggingTensorHookTest, EveryTenLogsRunsOneElevenTwentyOne) {
  const auto hook = Make({.every_n_iter = 10});
  EST_ASSERT_OK(session_.Start(*hook));
  Runs(*hook, 30);
  EXPECT_THAT(lines_, ElementsAre("t = 1", "t = 11 (2.500 sec)", "t = 21 (2.500 sec)"));
  EXPECT_THAT(session_.requested_steps, ElementsAre(1, 11, 21)) << "only for these lines";
}

// Behaviour J3: runs of this call, wherever global_step stands.
TEST_F(LoggingTensorHookTest, CountsRunsAndNotGlobalSteps) {
  session_.step = 1003;
  const auto hook = Make({.every_n_iter = 10});
  EST_ASSERT_OK(session_.Start(*hook));
  Runs(*hook, 11);
  EXPECT_THAT(lines_, ElementsAre("t = 1004", "t = 1014 (2.500 sec)"));
}

// Behaviour J3.
TEST_F(LoggingTensorHookTest, EverySecondsLogsByTheClock) {
  const auto hook = Make({.every_n_secs = 1});
  EST_ASSERT_OK(session_.Start(*hook));
  Runs(*hook, 6);
  EXPECT_THAT(lines_, ElementsAre("t = 1", "t = 5 (1.000 sec)"));
}

// Behaviour J3.
TEST_F(LoggingTensorHookTest, AtEndOnlyLogsOnceWithoutSeconds) {
  const auto hook = Make({.at_end = true});
  EST_ASSERT_OK(session_.Start(*hook));
  Runs(*hook, 3);
  EXPECT_THAT(lines_, IsEmpty());
  EST_ASSERT_OK(hook->End(session_));
  EXPECT_THAT(lines_, ElementsAre("t = 3"));
}

// Behaviour J3.
TEST_F(LoggingTensorHookTest, AtEndComesOnTopOfACadence) {
  const auto hook = Make({.every_n_iter = 10, .at_end = true});
  EST_ASSERT_OK(session_.Start(*hook));
  Runs(*hook, 3);
  EST_ASSERT_OK(hook->End(session_));
  EXPECT_THAT(lines_, ElementsAre("t = 1", "t = 3 (0.750 sec)"));
  EXPECT_THAT(session_.requested_steps, ElementsAre(1, 2, 3)) << "each may be the last";
}

// Behaviour J3.
TEST_F(LoggingTensorHookTest, AFormatterWritesTheWholeLine) {
  const auto hook =
      Make({.every_n_iter = 2, .formatter = [](const LoggingTensorHook::Values& values) {
              return absl::StrCat("<", values.at("t").scalar<int64_t>(), ">");
            }});
  EST_ASSERT_OK(session_.Start(*hook));
  Runs(*hook, 4);
  EXPECT_THAT(lines_, ElementsAre("<1>", "<3>"));
}

// Behaviour J3.
TEST_F(LoggingTensorHookTest, RefusesCadencesThatAreNoCadence) {
  for (const auto& hook : {Make({.every_n_iter = 0}), Make({.every_n_iter = -10}),
                           Make({.every_n_iter = 5, .every_n_secs = 5}), Make({})}) {
    EXPECT_THAT(session_.Start(*hook), StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST_F(LoggingTensorHookTest, RefusesWhatIsNotATensorAndNamesIt) {
  LoggingTensorHook hook({.tensors = {{"broken", Tensor()}}, .every_n_iter = 1});
  EXPECT_THAT(session_.Start(hook), ErrorHas("'broken'"));
}

// It read past the end of the results if a loop gave fewer than it had asked for.
TEST_F(LoggingTensorHookTest, RefusesFewerResultsThanItAskedFor) {
  const auto hook = Make({.every_n_iter = 1});
  ASSERT_TRUE(session_.Start(*hook).ok());
  RunContext context(session_, 0);
  ASSERT_EQ(hook->BeforeRun(context).size(), 1u);
  EXPECT_EQ(hook->AfterRun(context, RunValues{}),
            absl::InternalError("LoggingTensorHook asked for 1 tensors, and the loop gave 0"));
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(LoggingTensorHookTest, WithoutASinkLinesGoToTheLog) {
  const testing::CapturedLog log;
  LoggingTensorHook hook({.tensors = {{"t", tensor_}}, .every_n_iter = 1});
  EST_ASSERT_OK(session_.Start(hook));
  EST_ASSERT_OK(session_.Run(hook));
  EXPECT_THAT(log.infos, ElementsAre("t = 1"));
}

}  // namespace
}  // namespace estimator
