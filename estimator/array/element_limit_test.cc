#include "estimator/array/element_limit.h"

#include <gtest/gtest.h>

#include <limits>

namespace estimator {
namespace {

TEST(HasElementsAtMost, MultipliesWithoutOverflow) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE(HasElementsAtMost(Shape{}, 1));
  EXPECT_TRUE(HasElementsAtMost(Shape{2, 3}, 6));
  EXPECT_FALSE(HasElementsAtMost(Shape{2, 3}, 5));
  EXPECT_TRUE(HasElementsAtMost(Shape{2, 0, 3}, 6));
  EXPECT_FALSE(HasElementsAtMost(Shape{2, 0, 3}, 5)) << "0 counts as 1";
  EXPECT_FALSE(HasElementsAtMost(Shape{2, Shape::kUnknownDim}, kMost));
  EXPECT_TRUE(HasElementsAtMost(Shape{kMost, 1}, kMost));
  EXPECT_FALSE(HasElementsAtMost(Shape{int64_t{1} << 32, int64_t{1} << 32}, kMost));
  EXPECT_FALSE(HasElementsAtMost(Shape{int64_t{1} << 32, int64_t{1} << 32, 0}, kMost));
}

}  // namespace
}  // namespace estimator
