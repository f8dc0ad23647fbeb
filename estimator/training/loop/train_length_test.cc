#include "estimator/training/loop/train_length.h"

#include <gtest/gtest.h>

namespace estimator {
namespace {

TEST(TrainLength, TargetsAreCountedFromTheStart) {
  EXPECT_EQ(TrainLength(Steps(10)).TargetFrom(5), 15);
  EXPECT_EQ(TrainLength(MaxSteps(10)).TargetFrom(5), 10);
}

// Its sum overflowed: training ended before its first step.
TEST(TrainLength, StepsWithoutEndAreSteps) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(TrainLength(Steps(kMost)).TargetFrom(100), kMost);
  EXPECT_EQ(TrainLength().TargetFrom(100), kMost);
}

}  // namespace
}  // namespace estimator
