#include "estimator/ops/statistics.h"

#include <limits>
#include <vector>

#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using testing::Doubles;
using ::testing::ElementsAre;
using testing::ErrorOf;
using testing::Eval;
using ::testing::HasSubstr;
using testing::Scrambled;

using SufficientStatisticsTest = GraphTest;
using NormalizeMomentsTest = GraphTest;
using HistogramFixedWidthTest = GraphTest;

TEST_F(SufficientStatisticsTest, AreCountSumAndSumOfSquaresOfWhatIsLeftOfTheShift) {
  const Tensor x = Constant({2, 3}, {1.0f, 2.0f, 3.0f, 4.0f, 6.0f, 8.0f});
  const Sufficient plain = SufficientStatistics(x, 1);
  EXPECT_THAT(Doubles(plain.count), ElementsAre(3));
  EXPECT_THAT(Doubles(plain.mean_ss), ElementsAre(6, 18));
  EXPECT_THAT(Doubles(plain.variance_ss), ElementsAre(14, 116));
  const Sufficient shifted =
      SufficientStatistics(x, {0, -1}, {.shift = Constant(2.0f), .keepdims = true});
  EXPECT_THAT(Doubles(shifted.count), ElementsAre(6));
  EXPECT_THAT(Doubles(shifted.mean_ss), ElementsAre(12));
  EXPECT_THAT(Doubles(shifted.variance_ss), ElementsAre(1 + 0 + 1 + 4 + 16 + 36));
  EXPECT_EQ(shifted.mean_ss.shape(), (Shape{1, 1}));
}

TEST_F(NormalizeMomentsTest, GiveMeanAndVarianceWithAndWithoutAShift) {
  const Tensor x = Constant({2, 3}, {1.0f, 2.0f, 3.0f, 4.0f, 6.0f, 8.0f});
  for (const Tensor& shift : {Tensor(), Constant(4.0f)}) {
    const Sufficient sums = SufficientStatistics(x, ReduceAxes::All(), {.shift = shift});
    const MeanAndVariance moments =
        NormalizeMoments(sums.count, sums.mean_ss, sums.variance_ss, sums.shift);
    EXPECT_NEAR(Doubles(moments.mean)[0], 4, 1e-6);
    EXPECT_NEAR(Doubles(moments.variance)[0], 34.0 / 6, 1e-5);
  }
}

TEST_F(NormalizeMomentsTest, NodesHaveTensorFlowsNames) {
  const Sufficient sums = SufficientStatistics(Constant({1.0f, 3.0f}), 0);
  EXPECT_EQ(NormalizeMoments(sums.count, sums.mean_ss, sums.variance_ss).mean.name(),
            "normalize/mean:0");
  EXPECT_EQ(
      NormalizeMoments(sums.count, sums.mean_ss, sums.variance_ss, Constant(4.0f)).mean.name(),
      "normalize_1/mean:0");
  EXPECT_TRUE(graph_.FindNode("normalize_1/shifted_mean") != nullptr);
}

TEST_F(NormalizeMomentsTest, GradientMatchesFiniteDifferences) {
  const auto variance = [](const std::vector<Tensor>& in) {
    const Sufficient sums = SufficientStatistics(in[0], 0, {.shift = in[1]});
    return NormalizeMoments(sums.count, sums.mean_ss, sums.variance_ss, sums.shift).variance;
  };
  EXPECT_EQ(CheckGradients(variance, {Scrambled({4, 2}, -1, 1), Scrambled({2}, -1, 1)}).ToString(),
            "OK");
}

// Numbers of TF 2.15 tf.histogram_fixed_width.
TEST_F(HistogramFixedWidthTest, PutsWhatLiesOutsideIntoTheFirstAndLastBin) {
  const Tensor x = Constant({-1.0f, 0.0f, 1.5f, 2.0f, 5.0f, 15.0f});
  EXPECT_THAT(Doubles(HistogramFixedWidth(x, 0, 5, {.nbins = 5})), ElementsAre(2, 1, 1, 0, 2));
  EXPECT_EQ(HistogramFixedWidth(x, 0, 5).shape(), Shape{100});
  EXPECT_THAT(Doubles(HistogramFixedWidth(Constant({0, 3, 4, 9}), 0, 10,
                                          {.nbins = 2, .dtype = DType::kInt64})),
              ElementsAre(3, 1));
  EXPECT_THAT(ErrorOf([] { HistogramFixedWidth(Zeros({2}), 1, 1); }),
              HasSubstr("low must be less than high"));
}

TEST_F(HistogramFixedWidthTest, TakesTheRangeInTheTypeOfTheValues) {
  EXPECT_THAT(
      Doubles(HistogramFixedWidth(Constant({0.0f, 0.1f, 0.2f, 0.3f}), 0, 0.3, {.nbins = 3})),
      ElementsAre(2, 1, 1));
  EXPECT_THAT(Doubles(HistogramFixedWidth(Constant({2147483647, 0}), -10, 100, {.nbins = 3})),
              ElementsAre(1, 0, 1));
  EXPECT_THAT(ErrorOf([] { HistogramFixedWidth(Constant({1.0f}), 1, 1 + 1e-12); }),
              HasSubstr("low must be less than high"));
  EXPECT_THAT(ErrorOf([] { HistogramFixedWidth(Constant({1}), 0.5, 3); }),
              HasSubstr("not an integer"));
}

TEST_F(HistogramFixedWidthTest, FailsForNaNAsTensorFlowDoesAndCountsTheInfinite) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_THAT(Doubles(HistogramFixedWidth(Constant({inf, -inf, inf}), 0, 1, {.nbins = 2})),
              ElementsAre(1, 2));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(
      Eval(HistogramFixedWidth(Constant({0.5f, nan}), 0, 1, {.nbins = 2})).status().ToString(),
      HasSubstr("Histogram values must not contain NaN"));
}

}  // namespace
}  // namespace estimator
