#include "estimator/ops/math_unary.h"

#include <cmath>
#include <limits>
#include <vector>

#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
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

using Fn = Tensor (*)(const Tensor&, StringArg);

std::vector<double> Of(Fn fn, std::vector<float> x) {
  Graph graph;
  const GraphScope scope(graph);
  return Doubles(fn(Constant(x), "op"));
}

TEST(Unary, ComputesExactCases) {
  EXPECT_THAT(Of(Negate, {1, -2}), ElementsAre(-1, 2));
  EXPECT_THAT(Of(Abs, {1, -2, 0}), ElementsAre(1, 2, 0));
  EXPECT_THAT(Of(Sign, {3, -2, 0}), ElementsAre(1, -1, 0));
  EXPECT_THAT(Of(Square, {3, -2}), ElementsAre(9, 4));
  EXPECT_THAT(Of(Sqrt, {9, 2.25}), ElementsAre(3, 1.5));
  EXPECT_THAT(Of(Rsqrt, {4, 0.25}), ElementsAre(0.5, 2));
  EXPECT_THAT(Of(Exp, {0}), ElementsAre(1));
  EXPECT_THAT(Of(Log, {1, 0}), ElementsAre(0, -kInf));
  EXPECT_THAT(Of(Floor, {1.5, -1.5}), ElementsAre(1, -2));
  EXPECT_THAT(Of(Ceil, {1.5, -1.5}), ElementsAre(2, -1));
  EXPECT_THAT(Of(Reciprocal, {4, -0.5}), ElementsAre(0.25, -2));
}

TEST(Unary, RoundsHalfToEven) {
  EXPECT_THAT(Of(Round, {0.5, 1.5, 2.5, -0.5, -1.5, 2.4f}),
              ElementsAre(0, 2, 2, 0, -2, static_cast<double>(2)));
}

TEST(Unary, ComputesFunctionsOfTheLibrary) {
  const float x = 0.3f;
  const std::vector<std::pair<Fn, double>> cases = {
      {Exp, std::exp(x)}, {Expm1, std::expm1(x)}, {Log, std::log(x)}, {Log1p, std::log1p(x)},
      {Sin, std::sin(x)}, {Cos, std::cos(x)},     {Tan, std::tan(x)}, {Erf, std::erf(x)}};
  for (const auto& [fn, expected] : cases) EXPECT_FLOAT_EQ(Of(fn, {x})[0], expected);
}

TEST(Unary, FindsNaNAndInfinity) {
  const std::vector<float> x = {1, static_cast<float>(kNan), static_cast<float>(-kInf)};
  EXPECT_THAT(Of(IsNan, x), ElementsAre(0, 1, 0));
  EXPECT_THAT(Of(IsInf, x), ElementsAre(0, 0, 1));
  EXPECT_THAT(Of(IsFinite, x), ElementsAre(1, 0, 0));
}

TEST(Unary, TakesIntegersWhereTheyMakeSense) {
  Graph graph;
  const GraphScope scope(graph);
  EXPECT_THAT(Doubles(-Constant({3, -4})), ElementsAre(-3, 4));
  EXPECT_THAT(Doubles(Square(Abs(Constant({3, -4})))), ElementsAre(9, 16));
  EXPECT_THAT(ErrorOf([] { Sqrt(Constant(4)); }), HasSubstr("floating"));
  EXPECT_THAT(ErrorOf([] { IsNan(Constant(4)); }), HasSubstr("floating"));
  EXPECT_THAT(ErrorOf([] { -Constant(true); }), HasSubstr("bool"));
}

TEST(Unary, HalvesAreComputedInFloatAndRoundedOnce) {
  Graph graph;
  const GraphScope scope(graph);
  // exp(1) = 2.71828 lies between the bf16 numbers 2.703125 and 2.71875.
  EXPECT_THAT(Doubles(Exp(Constant(Bfloat16(1.0f)))), ElementsAre(2.71875));
}

TEST(Unary, GradientsMatchFiniteDifferences) {
  const Array positive = Scrambled({2, 3}, 0.3, 1.4), mixed = Scrambled({6}, -1.2, 1.3);
  for (const Fn fn : {Sqrt, Rsqrt, Log, Reciprocal}) {
    EXPECT_EQ(CheckGradients([fn](const Inputs& x) { return fn(x[0], ""); }, {positive}).ToString(),
              "OK");
  }
  for (const Fn fn :
       {Negate, Abs, Square, Exp, Expm1, Sin, Cos, Tan, Erf, Sign, Floor, Ceil, Round}) {
    EXPECT_EQ(CheckGradients([fn](const Inputs& x) { return fn(x[0], ""); }, {mixed}).ToString(),
              "OK");
  }
  EXPECT_EQ(CheckGradients([](const Inputs& x) { return Log1p(x[0]); }, {positive}).ToString(),
            "OK");
}

TEST(Cast, ConvertsAsTensorFlow) {
  Graph graph;
  const GraphScope scope(graph);
  const Tensor x = Constant({1.9f, -1.9f, 0.0f});
  EXPECT_THAT(Doubles(Cast(x, DType::kInt32)), ElementsAre(1, -1, 0));
  EXPECT_THAT(Doubles(Cast(x, DType::kBool)), ElementsAre(1, 1, 0));
  EXPECT_THAT(Doubles(Cast(Constant({true, false}), DType::kFloat16)), ElementsAre(1, 0));
  EXPECT_THAT(Doubles(Cast(Constant({0.5f}), DType::kBool)), ElementsAre(1));
  EXPECT_THAT(Doubles(Cast(Constant({300}), DType::kUint8)), ElementsAre(44));
  EXPECT_EQ(Cast(x, DType::kFloat32), x);
  EXPECT_THAT(ErrorOf([] { Cast(Constant(Array::String("x")), DType::kInt32); }),
              HasSubstr("string"));
}

TEST(Cast, GradientIsCastBack) {
  EXPECT_EQ(CheckGradients(
                [](const Inputs& x) {
                  return Cast(Cast(x[0] * 3, DType::kFloat64) * x[0], DType::kFloat64);
                },
                {Scrambled({3}, 1, 2)})
                .ToString(),
            "OK");
}

}  // namespace
}  // namespace estimator
