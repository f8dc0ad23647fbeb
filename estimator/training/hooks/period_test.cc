#include "estimator/training/hooks/period.h"

#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

TEST(Period, IsReadInEveryUnit) {
  const InputSizes sizes = {.examples_per_step = 32, .examples_per_epoch = 1000};
  EXPECT_EQ(*Period::Parse("100")->ToSteps(sizes), 100);
  EXPECT_EQ(*Period::Parse("1 step")->ToSteps(sizes), 1);
  EXPECT_EQ(*Period::Parse("2 epochs")->ToSteps(sizes), 63);  // 62.5, rounded up
  EXPECT_EQ(*Period::Parse("0.5epochs")->ToSteps(sizes), 16);
  EXPECT_EQ(*Period::Parse(" 64 examples ")->ToSteps(sizes), 2);
  EXPECT_EQ(*Period::Parse("90s")->ToStepsOrSeconds(sizes)->every_secs, 90);
  EXPECT_EQ(*Period::Parse("2 minutes")->ToStepsOrSeconds(sizes)->every_secs, 120);
  EXPECT_EQ(*Period::Parse("1 hour")->ToStepsOrSeconds(sizes)->every_secs, 3600);
}

TEST(Period, IsWrittenAsItIsRead) {
  EXPECT_EQ(Period::Epochs(1).ToString(), "1 epoch");
  EXPECT_EQ(Period::Epochs(0.5).ToString(), "0.5 epochs");
  EXPECT_EQ(Period::Seconds(600).ToString(), "600 seconds");
  EXPECT_EQ(Period::Steps(16777217).ToString(), "16777217 steps");
  EXPECT_EQ(*Period::Parse("16777217 steps")->ToSteps({}), 16777217);
}

TEST(Period, RefusesOtherTexts) {
  for (const char* text : {"", "epochs", "1 parsec", "x steps", "1e 3"}) {
    EXPECT_THAT(Period::Parse(text), StatusIs(absl::StatusCode::kInvalidArgument,
                                              HasSubstr("steps, epochs, examples, seconds")));
  }
  EXPECT_THAT(Period::Parse("-3 epochs"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("must be above 0")));
  EXPECT_THAT(Period::Parse("0"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("must be above 0")));
}

TEST(Period, NamesTheSizeThatIsNotKnown) {
  EXPECT_THAT(
      Period::Epochs(1).ToSteps({.examples_per_step = 32, .examples_per_epoch = -1}),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("RunConfig.examples_per_epoch")));
  EXPECT_THAT(Period::Examples(1).ToSteps({}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no batch axis")));
}

TEST(Period, OfALengthIsNotInSeconds) {
  EXPECT_THAT(Period::Seconds(5).ToSteps({}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not in seconds")));
}

}  // namespace
}  // namespace estimator
