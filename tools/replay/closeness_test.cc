#include "tools/replay/closeness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace estimator::replay {
namespace {

using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(ClosenessTest, TheToleranceIsOfTheElementAndOfTheTensorsRootMeanSquare) {
  // rms = sqrt((9 + 16) / 2) = 3.5355; allowed at [0]: 0.01 * (3 + 3.5355) = 0.065355.
  const Array expected = Array::Of<double>({2}, {3, 4});
  const Closeness closeness =
      HoldAgainst(Array::Of<double>({2}, {3.0326775, 4}), expected, 0.01, 0);
  EXPECT_NEAR(closeness.of_tolerance, 0.5, 1e-4);
  EXPECT_NEAR(closeness.max_absolute, 0.0326775, 1e-9);
  EXPECT_EQ(closeness.report, "");
}

TEST(ClosenessTest, AnElementBeyondItIsReportedWithItsPlaceAndBothValues) {
  const Closeness closeness =
      HoldAgainst(Array::Of<double>({2, 1}, {3, 5}), Array::Of<double>({2, 1}, {3, 4}), 0.01, 0);
  EXPECT_GT(closeness.of_tolerance, 1);
  EXPECT_THAT(closeness.report, HasSubstr("1 of 2 elements differ; worst at [1,0]: 5 is not 4"));
}

TEST(ClosenessTest, AScalarHasNoRootMeanSquare) {
  EXPECT_NEAR(HoldAgainst(Array::Scalar(1.01), Array::Scalar(1.0), 0.02, 0).of_tolerance, 0.5,
              1e-9);
  EXPECT_NEAR(HoldAgainst(Array::Scalar(0.5), Array::Scalar(0.0), 0.02, 1).of_tolerance, 0.5, 1e-9);
}

TEST(ClosenessTest, EqualIsEqualUnderAnyTolerance) {
  EXPECT_EQ(HoldAgainst(Array::Scalar(0.0), Array::Scalar(0.0), 0, 0).of_tolerance, 0);
  EXPECT_EQ(HoldAgainst(Array::Scalar(1e-9), Array::Scalar(0.0), 0, 0).of_tolerance, kInf);
}

TEST(ClosenessTest, NaNOnOneSideIsNeverAMatch) {
  const double nan = std::nan("");
  EXPECT_EQ(HoldAgainst(Array::Scalar(nan), Array::Scalar(1.0), 1, 1).of_tolerance, kInf);
  EXPECT_EQ(HoldAgainst(Array::Scalar(1.0), Array::Scalar(nan), 1, 1).of_tolerance, kInf);
  EXPECT_THAT(HoldAgainst(Array::Scalar(nan), Array::Scalar(1.0), 1, 1).report, HasSubstr("nan"));
  EXPECT_EQ(HoldAgainst(Array::Scalar(nan), Array::Scalar(nan), 0, 0).of_tolerance, 0);
}

TEST(ClosenessTest, IntegersMustBeEqualAndTypesToo) {
  const Array three = Array::Scalar<int64_t>(3);
  EXPECT_EQ(HoldAgainst(three, three, 1, 10).of_tolerance, 0);
  EXPECT_EQ(HoldAgainst(Array::Scalar<int64_t>(4), three, 1, 10).of_tolerance, kInf);
  EXPECT_EQ(HoldAgainst(Array::Scalar<int32_t>(3), three, 1, 10).of_tolerance, kInf);
  EXPECT_EQ(HoldAgainst(Array::Of<float>({1}, {3}), Array::Scalar(3.0f), 1, 10).of_tolerance, kInf);
}

}  // namespace
}  // namespace estimator::replay
