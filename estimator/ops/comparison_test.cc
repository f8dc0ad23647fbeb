#include "estimator/ops/comparison.h"

#include <limits>
#include <vector>

#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
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

using ComparisonTest = GraphTest;
using LogicTest = GraphTest;

TEST_F(ComparisonTest, ComparesWithBroadcasting) {
  const Tensor x = Constant({1, 2, 3});
  EXPECT_THAT(Doubles(Equal(x, 2)), ElementsAre(0, 1, 0));
  EXPECT_THAT(Doubles(NotEqual(x, 2)), ElementsAre(1, 0, 1));
  EXPECT_THAT(Doubles(Less(x, 2)), ElementsAre(1, 0, 0));
  EXPECT_THAT(Doubles(LessEqual(x, 2)), ElementsAre(1, 1, 0));
  EXPECT_THAT(Doubles(Greater(2, x)), ElementsAre(1, 0, 0));
  EXPECT_THAT(Doubles(GreaterEqual(x, Constant({2, 1}, {1, 3}))), ElementsAre(1, 1, 1, 0, 0, 1));
  EXPECT_EQ(Equal(x, 2).dtype(), DType::kBool);
}

TEST_F(ComparisonTest, NaNEqualsNothing) {
  const Tensor nan = Constant(static_cast<float>(kNan));
  EXPECT_THAT(Doubles(Equal(nan, nan)), ElementsAre(0));
  EXPECT_THAT(Doubles(NotEqual(nan, nan)), ElementsAre(1));
  EXPECT_THAT(Doubles(Less(nan, static_cast<float>(kInf))), ElementsAre(0));
}

TEST_F(ComparisonTest, StringsAreComparedForEquality) {
  const Tensor names = Constant(Array::Of<std::string>({2}, {"a", "b"}));
  EXPECT_THAT(Doubles(Equal(names, Constant(Array::String("b")))), ElementsAre(0, 1));
}

TEST_F(ComparisonTest, RefusesWhatHasNoOrder) {
  EXPECT_THAT(ErrorOf([] { Less(Constant(true), Constant(false)); }), HasSubstr("bool"));
  EXPECT_THAT(ErrorOf([] { Equal(Constant(1), Constant(1.0f)); }), HasSubstr("int32 and float32"));
  EXPECT_THAT(ErrorOf([] { Equal(Constant({1, 2}), Constant({1, 2, 3})); }), HasSubstr("[3]"));
}

TEST_F(LogicTest, CombinesAndNegates) {
  const Tensor x = Constant({true, true, false, false}), y = Constant({true, false, true, false});
  EXPECT_THAT(Doubles(LogicalAnd(x, y)), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(Doubles(LogicalOr(x, y)), ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(Doubles(LogicalNot(x)), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(ErrorOf([] { LogicalNot(Constant(1)); }), HasSubstr("takes bool"));
}

TEST_F(ComparisonTest, NoGradientFlows) {
  EXPECT_EQ(CheckGradients(
                [](const Inputs& x) { return Cast(Greater(x[0], 0.5), DType::kFloat64) * x[0]; },
                {Scrambled({4}, 0.1, 1.2)})
                .ToString(),
            "OK");
}

}  // namespace
}  // namespace estimator
