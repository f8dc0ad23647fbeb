#include "estimator/training/hooks/loop_times.h"

#include "gtest/gtest.h"

namespace estimator {
namespace {

TEST(FormatShares, ListsTheLargestFirstAndWhatIsLeft) {
  const LoopTimes times = {.input = 1.5, .compute = 8, .checkpoint = 0.04, .evaluation = 0};
  EXPECT_EQ(FormatShares(times, 10), "compute 80 %, input 15 %, other 5 %");
}

TEST(FormatShares, IsEmptyWithoutTime) { EXPECT_EQ(FormatShares({}, 0), ""); }

// The clocks of the parts and of the whole are read at different moments.
TEST(FormatShares, HasNoNegativeRest) {
  EXPECT_EQ(FormatShares({.compute = 10.1}, 10), "compute 101 %");
}

TEST(AddSeconds, AddsToTheTotal) {
  double total = 1;
  { const AddSeconds add(total); }
  EXPECT_GE(total, 1);
}

}  // namespace
}  // namespace estimator
