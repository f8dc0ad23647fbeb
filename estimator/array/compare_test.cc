#include "estimator/array/compare.h"

#include <cmath>

#include "gtest/gtest.h"

namespace estimator {
namespace {

TEST(Compare, NamesTheWorstElementAndBothValues) {
  const Array expected = Array::Of<float>({2, 2}, {1, 2, 3, 4});
  const Array actual = Array::Of<float>({2, 2}, {1, 2.5, 3, 4.25});
  const Difference difference = Compare(actual, expected, {.relative = 1e-5});
  EXPECT_FALSE(difference.equal);
  EXPECT_EQ(difference.num_different, 2);
  EXPECT_EQ(difference.worst_index, 1);
  EXPECT_EQ(difference.report,
            "2 of 4 elements differ; worst at [0,1]: 2.5 is not 2 (f32 [2,2], rtol 1e-05, atol 0)");
}

TEST(Compare, WithinToleranceIsEqual) {
  const Array expected = Array::Of<float>({2}, {100, 0});
  const Array actual = Array::Of<float>({2}, {100.5, 0.01f});
  EXPECT_TRUE(Compare(actual, expected, {.relative = 0.01, .absolute = 0.02}).equal);
  EXPECT_FALSE(Compare(actual, expected, {.relative = 0.01}).equal);
}

TEST(Compare, NaNEqualsOnlyNaN) {
  const Array nan = Array::Scalar(NAN);
  EXPECT_TRUE(Compare(nan, nan).equal);
  EXPECT_FALSE(Compare(nan, Array::Scalar(1.0f), {.absolute = 1e9}).equal);
}

TEST(Compare, AnotherTypeIsADifference) {
  EXPECT_EQ(Compare(Array(DType::kFloat32, {2}), Array(DType::kFloat64, {2})).report,
            "f32 [2] is not f64 [2]");
}

TEST(Compare, StringsShowTheFirstDifference) {
  const Difference d =
      Compare(Array::Of<std::string>({2}, {"a", "b"}), Array::Of<std::string>({2}, {"a", "c"}));
  EXPECT_NE(d.report.find("'b' is not 'c'"), std::string::npos) << d.report;
}

TEST(SameBits, TellsZeroFromMinusZero) {
  EXPECT_FALSE(SameBits(Array::Scalar(0.0f), Array::Scalar(-0.0f)));
  EXPECT_TRUE(Compare(Array::Scalar(0.0f), Array::Scalar(-0.0f)).equal);
}

}  // namespace
}  // namespace estimator
