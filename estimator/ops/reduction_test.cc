#include "estimator/ops/reduction.h"

#include <cmath>
#include <limits>
#include <vector>

#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using testing::Doubles;
using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::Scrambled;
using Inputs = std::vector<Tensor>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

using ReductionsTest = GraphTest;
using ReduceMaxTest = GraphTest;
using ReduceLogSumExpTest = GraphTest;
using MomentsTest = GraphTest;
using NormsTest = GraphTest;

TEST_F(ReductionsTest, ReduceOverAxes) {
  const Tensor x = Constant({2, 3}, {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});
  EXPECT_THAT(Doubles(ReduceSum(x)), ElementsAre(21));
  EXPECT_THAT(Doubles(ReduceSum(x, 0)), ElementsAre(5, 7, 9));
  EXPECT_THAT(Doubles(ReduceSum(x, -1)), ElementsAre(6, 15));
  EXPECT_THAT(Doubles(ReduceSum(x, {0, 1})), ElementsAre(21));
  EXPECT_THAT(Doubles(ReduceSum(x, std::vector<int64_t>{})), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(Doubles(ReduceMean(x, 1)), ElementsAre(2, 5));
  EXPECT_THAT(Doubles(ReduceProd(x, 1)), ElementsAre(6, 120));
  EXPECT_THAT(Doubles(ReduceMax(x, 0)), ElementsAre(4, 5, 6));
  EXPECT_THAT(Doubles(ReduceMin(x, 0)), ElementsAre(1, 2, 3));
  EXPECT_EQ(ReduceSum(x, 1, {.keepdims = true}).shape(), (Shape{2, 1}));
}

// In the elements' own type the sum wraps, and 256 is 0: a division by zero.
TEST_F(ReductionsTest, MeansOfSmallIntegersAreTakenIn64Bits) {
  Array bytes(DType::kInt8, {256}), words(DType::kUint8, {300});
  for (int8_t& x : bytes.values<int8_t>()) x = -100;
  for (uint8_t& x : words.values<uint8_t>()) x = 200;
  EXPECT_THAT(Doubles(ReduceMean(Constant(bytes))), ElementsAre(-100));
  EXPECT_THAT(Doubles(ReduceMean(Constant(words))), ElementsAre(200));
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  const Tensor large = Constant(Array::Of<int32_t>({2}, {kMost, kMost}));
  EXPECT_THAT(Doubles(ReduceMean(large)), ElementsAre(kMost));
  EXPECT_THAT(Doubles(ReduceSum(large)), ElementsAre(-2)) << "wraps around, as TensorFlow's";
}

TEST_F(ReductionsTest, ReduceAMiddleAxis) {
  const Tensor x = Reshape(Range(8), {2, 2, 2});
  EXPECT_THAT(Doubles(ReduceSum(x, 1)), ElementsAre(2, 4, 10, 12));
  EXPECT_THAT(Doubles(ReduceSum(x, {0, 2})), ElementsAre(10, 18));
}

TEST_F(ReductionsTest, IntegersStayIntegers) {
  EXPECT_THAT(Doubles(ReduceMean(Constant({1, 2, 4}))), ElementsAre(2));
  EXPECT_THAT(Doubles(ReduceSum(Constant({1, 2, 4}))), ElementsAre(7));
}

TEST_F(ReductionsTest, OfNothingAreNeutral) {
  const Tensor empty = Zeros({0, 2});
  EXPECT_THAT(Doubles(ReduceSum(empty, 0)), ElementsAre(0, 0));
  EXPECT_THAT(Doubles(ReduceProd(empty, 0)), ElementsAre(1, 1));
  EXPECT_THAT(Doubles(ReduceMax(empty, 0)), ElementsAre(-kInf, -kInf));
  EXPECT_TRUE(std::isnan(Doubles(ReduceMean(empty, 0))[0]));
}

TEST_F(ReductionsTest, LongSumsKeepTheirDigits) {
  // One by one in float32, 2^24 + 1 + 1 + ... never grows; by pairs it does.
  std::vector<float> values(20001, 1.0f);
  values[0] = 16777216.0f;
  EXPECT_NEAR(Doubles(ReduceSum(Constant(values)))[0], 16797216.0, 32);
  // bf16 is summed in float32: 256 + 1 would be 256 in bf16.
  EXPECT_THAT(Doubles(ReduceSum(Constant({Bfloat16(256.0f), Bfloat16(1.0f), Bfloat16(1.0f)}))),
              ElementsAre(258));
}

TEST_F(ReductionsTest, MaximumKeepsNaN) {
  EXPECT_TRUE(std::isnan(Doubles(ReduceMax(Constant({1.0, kNan, 2.0})))[0]));
  EXPECT_TRUE(std::isnan(Doubles(ReduceMin(Constant({1.0, kNan, 2.0})))[0]));
}

TEST_F(ReductionsTest, OfLogic) {
  const Tensor x = Constant({2, 2}, {true, false, true, true});
  EXPECT_THAT(Doubles(ReduceAll(x, 1)), ElementsAre(0, 1));
  EXPECT_THAT(Doubles(ReduceAny(x, 0)), ElementsAre(1, 1));
  EXPECT_THAT(ErrorOf([] { ReduceAll(Constant(1.0f)); }), HasSubstr("reduces bool"));
}

TEST_F(ReductionsTest, RefuseAxesThatAreNotThere) {
  EXPECT_THAT(ErrorOf([] {
                ReduceSum(Zeros({2, 3}), 2);
              }),
              HasSubstr("axis 2 is out of range [-2, 2)"));
  EXPECT_THAT(ErrorOf([] { ReduceSum(Zeros({2, 3}), {0, -2}); }), HasSubstr("given twice"));
  EXPECT_THAT(ErrorOf([] { ReduceSum(Constant(true)); }), HasSubstr("bool"));
}

TEST_F(ReductionsTest, GradientsMatchFiniteDifferences) {
  const Array x = Scrambled({2, 3, 2}, 0.5, 2);
  using Fn = Tensor (*)(const Tensor&, const ReduceAxes&, const ReduceOptions&);
  for (const Fn fn : {ReduceSum, ReduceMean, ReduceProd, ReduceMax, ReduceMin, ReduceLogSumExp}) {
    for (const bool keep : {false, true}) {
      EXPECT_EQ(CheckGradients(
                    [=](const Inputs& in) {
                      return fn(in[0], {0, -1}, {.keepdims = keep});
                    },
                    {x})
                    .ToString(),
                "OK");
    }
    EXPECT_EQ(
        CheckGradients([=](const Inputs& in) { return fn(in[0], ReduceAxes::All(), {}); }, {x})
            .ToString(),
        "OK");
  }
}

TEST(ReduceProd, GradientIsRightAtZeros) {
  for (const double second : {0.0, 3.0}) {
    EXPECT_EQ(CheckGradients([](const Inputs& in) { return ReduceProd(in[0]); },
                             {Array::Of<double>({3}, {0.0, second, 2.0})})
                  .ToString(),
              "OK");
  }
}

TEST_F(ReduceMaxTest, GradientIsSharedByEqualElements) {
  const Tensor x = Constant({2.0, 2.0, 1.0});
  EXPECT_THAT(Doubles(Gradients({ReduceMax(Identity(x))}, {x})[0]), ElementsAre(0.5, 0.5, 0));
}

TEST_F(ReduceLogSumExpTest, DoesNotOverflow) {
  EXPECT_NEAR(Doubles(ReduceLogSumExp(Constant({1000.0f, 1000.0f})))[0], 1000.6931, 1e-3);
  EXPECT_EQ(Doubles(ReduceLogSumExp(Constant({-kInf, -kInf})))[0], -kInf);
}

TEST_F(MomentsTest, AreMeanAndPopulationVariance) {
  const Tensor x = Constant({2, 2}, {1.0f, 10.0f, 3.0f, 30.0f});
  const MeanAndVariance moments = Moments(x, 0);
  EXPECT_THAT(Doubles(moments.mean), ElementsAre(2, 20));
  EXPECT_THAT(Doubles(moments.variance), ElementsAre(1, 100));
  EXPECT_EQ(Moments(x, 0, {.keepdims = true}).variance.shape(), (Shape{1, 2}));
  EXPECT_EQ(CheckGradients(
                [](const Inputs& in) {
                  const MeanAndVariance m = Moments(in[0], 0);
                  return m.mean * m.variance;
                },
                {Scrambled({3, 2}, -1, 2)})
                .ToString(),
            "OK");
}

TEST_F(NormsTest, AreEuclidean) {
  const Tensor x = Constant({3.0, 4.0});
  EXPECT_THAT(Doubles(L2Loss(x)), ElementsAre(12.5));
  EXPECT_THAT(Doubles(Norm(x)), ElementsAre(5));
  EXPECT_THAT(Doubles(GlobalNorm({x, Tensor(), Constant({12.0})})), ElementsAre(13));
  EXPECT_THAT(ErrorOf([] { L2Loss(Constant(2)); }), HasSubstr("floating"));
  EXPECT_EQ(CheckGradients(
                [](const Inputs& in) {
                  return GlobalNorm({in[0], in[1]}) + L2Loss(in[0]) + Norm(in[1]);
                },
                {Scrambled({3}, 1, 2), Scrambled({2}, -2, -1)})
                .ToString(),
            "OK");
}

}  // namespace
}  // namespace estimator
