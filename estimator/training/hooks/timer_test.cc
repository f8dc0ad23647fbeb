#include "estimator/training/hooks/timer.h"

#include <cmath>
#include <limits>

#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// Behaviour J1.
TEST(StepsOrSeconds, NeedsExactlyOneOfStepsAndSeconds) {
  EXPECT_FALSE((StepsOrSeconds{std::nullopt, std::nullopt}).Validate("x").ok());
  EXPECT_FALSE((StepsOrSeconds{10, 1.0}).Validate("x").ok());
  EXPECT_FALSE((StepsOrSeconds{0, std::nullopt}).Validate("x").ok());
  EXPECT_FALSE((StepsOrSeconds{std::nullopt, 0.0}).Validate("x").ok());
  EST_EXPECT_OK((StepsOrSeconds{10, std::nullopt}).Validate("x"));
  EST_EXPECT_OK((StepsOrSeconds{std::nullopt, 0.1}).Validate("x"));
}

// Fixed bug: with NaN seconds nothing was ever due, so no checkpoint was written.
TEST(StepsOrSeconds, NaNIsNoCadence) {
  EXPECT_THAT((StepsOrSeconds{std::nullopt, std::nan("")}).Validate("x"),
              ErrorHas("the cadence must be > 0, got nan seconds"));
}

// Behaviour J1.
TEST(SecondOrStepTimer, FiresFirstAndNeverTwiceOnOneStep) {
  SecondOrStepTimer timer({.every_steps = 3, .every_secs = std::nullopt});
  EXPECT_TRUE(timer.ShouldTriggerForStep(1));
  EXPECT_FALSE(timer.UpdateLastTriggeredStep(1).has_value());
  EXPECT_FALSE(timer.ShouldTriggerForStep(1));
  EXPECT_FALSE(timer.ShouldTriggerForStep(3));
  EXPECT_TRUE(timer.ShouldTriggerForStep(4));
  EXPECT_EQ(timer.UpdateLastTriggeredStep(4)->steps, 3);
}

// The sum of it and a step overflowed: it fired at every step.
TEST(SecondOrStepTimer, ACadenceOfTheLargestNumberNeverFiresAgain) {
  SecondOrStepTimer timer({.every_steps = std::numeric_limits<int64_t>::max()});
  timer.UpdateLastTriggeredStep(1);
  EXPECT_FALSE(timer.ShouldTriggerForStep(2));
}

TEST(SecondOrStepTimer, CountsSeconds) {
  double now = 100;
  SecondOrStepTimer timer({.every_steps = std::nullopt, .every_secs = 2}, [&now] { return now; });
  timer.UpdateLastTriggeredStep(1);
  now = 101.9;
  EXPECT_FALSE(timer.ShouldTriggerForStep(2));
  now = 102;
  EXPECT_TRUE(timer.ShouldTriggerForStep(2));
  EXPECT_FALSE(timer.ShouldTriggerForStep(1));
  EXPECT_DOUBLE_EQ(timer.UpdateLastTriggeredStep(2)->seconds, 2);
}

}  // namespace
}  // namespace estimator
