#include "estimator/training/hooks/profiler_hook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/training/testing/fake_session.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A session whose steps are one op of 30 us each, where they are traced.
class ProfilerHookTest : public ::testing::Test {
 protected:
  ProfilerHookTest() {
    session_.dir = dir_.path();
    session_.during_run = [this] {
      now_ += 1;
      const std::shared_ptr<Trace> trace = ThreadTrace();
      if (trace == nullptr) return;
      ++num_traced_;
      trace->events.push_back({.name = "dense/MatMul",
                               .op = "MatMul",
                               .replica = 0,
                               .start_us = 1000,
                               .duration_us = 30});
    };
  }
  std::vector<std::string> Files() { return ListDirectory(dir_.path()).value(); }

  TempDir dir_;
  testing::FakeSession session_;
  double now_ = 0;
  int num_traced_ = 0;
};

// Behaviour J10.
TEST_F(ProfilerHookTest, EveryTwoStepsWritesRunsTwoAndFourAndNeverTheFirst) {
  ProfilerHook hook({.cadence = {.every_steps = 2, .every_secs = std::nullopt}});
  EST_ASSERT_OK(session_.Start(hook));
  EST_ASSERT_OK(session_.Run(hook));
  EXPECT_THAT(Files(), IsEmpty());
  EST_ASSERT_OK(session_.Run(hook));
  EXPECT_THAT(Files(), ElementsAre("timeline-2.json"));
  EST_ASSERT_OK(session_.Run(hook));
  EXPECT_THAT(Files(), ElementsAre("timeline-2.json"));
  EST_ASSERT_OK(session_.Run(hook));
  EXPECT_THAT(Files(), ElementsAre("timeline-2.json", "timeline-4.json"));
  EXPECT_EQ(num_traced_, 2);  // the others cost nothing
}

// Behaviour J10.
TEST_F(ProfilerHookTest, EveryThreeSecondsGoesByTheClock) {
  ProfilerHook hook({.cadence = {.every_steps = std::nullopt, .every_secs = 3},
                     .output_dir = dir_.File("profile"),
                     .clock = [this] { return now_; }});
  EST_ASSERT_OK(session_.Start(hook));
  for (int run = 0; run < 8; ++run) EST_ASSERT_OK(session_.Run(hook));
  // Armed at t = 1; a run that begins at t >= 4 is traced: the fifth, from t = 4 to 5; then at t
  // >= 8.
  EXPECT_THAT(ListDirectory(dir_.File("profile")).value(), ElementsAre("timeline-5.json"));
}

// Behaviours J8 and J10.
TEST_F(ProfilerHookTest, WithFiveStepsARunItWritesTheRunsThatComeToTheCadence) {
  session_.steps_a_run = 5;
  ProfilerHook hook({.cadence = {.every_steps = 10, .every_secs = std::nullopt}});
  EST_ASSERT_OK(session_.Start(hook));
  for (int run = 0; run < 4; ++run) EST_ASSERT_OK(session_.Run(hook));
  EXPECT_THAT(Files(), ElementsAre("timeline-10.json", "timeline-20.json"));
}

TEST_F(ProfilerHookTest, ARangeOfStepsIsWrittenOnceInOneFile) {
  ProfilerHook hook({.steps = StepRange{.first = 2, .last = 4}});
  EST_ASSERT_OK(session_.Start(hook));
  for (int run = 0; run < 6; ++run) {
    EST_ASSERT_OK(session_.Run(hook));
    EXPECT_EQ(ThreadTrace(), nullptr);  // an evaluation between the runs is not traced
  }
  EST_ASSERT_OK(hook.End(session_));
  EXPECT_THAT(Files(), ElementsAre("timeline-4.json"));
  EXPECT_EQ(num_traced_, 3);
}

TEST_F(ProfilerHookTest, ARangeTakesWholeRunsAndIsCutByTheEnd) {
  session_.steps_a_run = 5;
  ProfilerHook hook({.steps = StepRange{.first = 7, .last = 100}});
  EST_ASSERT_OK(session_.Start(hook));
  for (int run = 0; run < 3; ++run) EST_ASSERT_OK(session_.Run(hook));
  EXPECT_THAT(Files(), IsEmpty());
  EST_ASSERT_OK(hook.End(session_));
  EXPECT_THAT(Files(), ElementsAre("timeline-15.json"));
  EXPECT_EQ(num_traced_, 2);
}

// Fixed bug: a loop of more steps than an int64 has left was taken to end before it begins.
TEST_F(ProfilerHookTest, ARunOfAnyNumberOfStepsIsTraced) {
  ProfilerHook hook({.steps = StepRange{.first = 7, .last = 9}});
  EST_ASSERT_OK(session_.Start(hook));
  session_.steps_a_run = 5;
  EST_ASSERT_OK(session_.Run(hook));
  session_.steps_a_run = std::numeric_limits<int64_t>::max();
  RunContext context(session_, session_.step);
  hook.BeforeRun(context);
  EXPECT_NE(ThreadTrace(), nullptr);
  session_.steps_a_run = 5;  // the input ended
  EST_ASSERT_OK(session_.Run(hook));
  EXPECT_THAT(Files(), ElementsAre("timeline-10.json"));
}

TEST_F(ProfilerHookTest, ARangeThatTrainingDoesNotReachIsAWarning) {
  ProfilerHook hook({.steps = StepRange{.first = 7, .last = 9}});
  EST_ASSERT_OK(session_.Start(hook));
  EST_ASSERT_OK(session_.Run(hook));
  const testing::CapturedLog log;
  EST_ASSERT_OK(hook.End(session_));
  ASSERT_EQ(log.warnings.size(), 1u);
  EXPECT_THAT(log.warnings[0], ::testing::HasSubstr("had none of the steps 7,9"));
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(ProfilerHookTest, ARangeAndACadenceTogetherAreRefused) {
  ProfilerHook both({.cadence = {.every_steps = 2}, .steps = StepRange{.first = 1, .last = 2}});
  EXPECT_THAT(session_.Start(both), ErrorHas("either a cadence or steps"));
  ProfilerHook backwards({.steps = StepRange{.first = 5, .last = 2}});
  EXPECT_THAT(session_.Start(backwards), ErrorHas("given 5,2"));
}

TEST_F(ProfilerHookTest, NothingIsTracedAfterARunThatFailed) {
  {
    ProfilerHook hook({.cadence = {.every_steps = 1, .every_secs = std::nullopt}});
    EST_ASSERT_OK(session_.Start(hook));
    EST_ASSERT_OK(session_.Run(hook));
    RunContext context(session_, session_.step);
    hook.BeforeRun(context);  // and no AfterRun
    EXPECT_NE(ThreadTrace(), nullptr);
  }
  EXPECT_EQ(ThreadTrace(), nullptr);
}

TEST(TraceToChromeJson, IsWhatChromeReads) {
  Trace trace;
  trace.events.push_back(
      {.name = "a/\"b\"", .op = "MatMul", .replica = 1, .start_us = 1000, .duration_us = 30});
  trace.events.push_back(
      {.name = "c", .op = "Relu", .replica = 1, .start_us = 1040, .duration_us = 2});
  const auto json = nlohmann::json::parse(TraceToChromeJson(trace));
  const auto& events = json.at("traceEvents");
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].at("args").at("name"), "ops");
  EXPECT_EQ(events[1].at("args").at("name"), "replica 1");
  const nlohmann::json first = {
      {"name", "MatMul"}, {"cat", "Op"},
      {"ph", "X"},        {"pid", 0},
      {"tid", 1},         {"ts", 0},
      {"dur", 30},        {"args", {{"name", "a/\"b\""}, {"op", "MatMul"}, {"kernel", "fast"}}}};
  EXPECT_EQ(events[2], first);
  EXPECT_EQ(events[3].at("ts"), 40);
  EXPECT_EQ(events[3].at("dur"), 2);
}

}  // namespace
}  // namespace estimator
