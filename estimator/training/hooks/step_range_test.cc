#include "estimator/training/hooks/step_range.h"

#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

TEST(StepRange, ParsesOneOrTwoNumbers) {
  const auto range = StepRange::Parse("10,20"), one = StepRange::Parse("7");
  EST_ASSERT_OK(range);
  EXPECT_EQ(range->first, 10);
  EXPECT_EQ(range->last, 20);
  EST_ASSERT_OK(one);
  EXPECT_EQ(one->ToString(), "7,7");
}

TEST(StepRange, AnythingElseIsRefusedWithAnExample) {
  for (const char* text : {"", "a", "1,2,3", "5-9", "1,"}) {
    EXPECT_THAT(StepRange::Parse(text).status(), ErrorHas("such as 10,20")) << text;
  }
  for (const char* text : {"0,5", "9,8", "-3"}) {
    EXPECT_THAT(StepRange::Parse(text).status(), ErrorHas("must begin at step 1")) << text;
  }
}

TEST(StepRange, ARunThatHasOneOfTheStepsOverlaps) {
  const StepRange range{.first = 10, .last = 20};
  EXPECT_FALSE(range.Overlaps(8, 9));
  EXPECT_TRUE(range.Overlaps(9, 10));
  EXPECT_TRUE(range.Overlaps(0, 50));
  EXPECT_TRUE(range.Overlaps(19, 20));
  EXPECT_FALSE(range.Overlaps(20, 21));
}

}  // namespace
}  // namespace estimator
