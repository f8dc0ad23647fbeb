#include "estimator/base/saturating.h"

#include <gtest/gtest.h>

namespace estimator {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST(Saturating, SumsAndProductsStopAtTheLargestNumber) {
  EXPECT_EQ(SaturatingAdd(2, 3), 5);
  EXPECT_EQ(SaturatingAdd(kMost, 0), kMost);
  EXPECT_EQ(SaturatingAdd(kMost, 1), kMost);
  EXPECT_EQ(SaturatingMultiply(6, 7), 42);
  EXPECT_EQ(SaturatingMultiply(kMost, 0), 0);
  EXPECT_EQ(SaturatingMultiply(int64_t{1} << 32, int64_t{1} << 31), kMost);
}

TEST(Saturating, TheCeilOfARatioNeedsNoSum) {
  EXPECT_EQ(CeilOfRatio(0, 4), 0);
  EXPECT_EQ(CeilOfRatio(8, 4), 2);
  EXPECT_EQ(CeilOfRatio(9, 4), 3);
  EXPECT_EQ(CeilOfRatio(kMost, 2), kMost / 2 + 1);
  EXPECT_EQ(CeilOfRatio(1, kMost), 1);
}

}  // namespace
}  // namespace estimator
