#include "estimator/ops/constant.h"

#include <limits>
#include <vector>

#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
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
using Inputs = std::vector<Tensor>;

using ConstantTest = GraphTest;
using ZerosTest = GraphTest;
using FillTest = GraphTest;
using ZerosLikeTest = GraphTest;
using RangeTest = GraphTest;

TEST_F(ConstantTest, TakesScalarsVectorsAndShapes) {
  EXPECT_EQ(Constant(1.5f).spec().ToString(), "f32 []");
  EXPECT_EQ(Constant(2).dtype(), DType::kInt32);
  EXPECT_EQ(Constant({1.0f, 2.0f}).spec().ToString(), "f32 [2]");
  const Tensor matrix = Constant({2, 2}, {1.0, 2.0, 3.0, 4.0});
  EXPECT_EQ(matrix.spec().ToString(), "f64 [2,2]");
  EXPECT_THAT(Doubles(matrix), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(matrix.name(), "Const_3:0");
}

TEST_F(ConstantTest, LikeATensorHasItsDType) {
  const Tensor bf16 = ConstantLike(Zeros({2}, DType::kBfloat16), 0.5);
  EXPECT_EQ(bf16.spec().ToString(), "bf16 []");
  EXPECT_THAT(Doubles(bf16), ElementsAre(0.5));
  EXPECT_THAT(ErrorOf([] { ConstantLike(Constant({1, 2}), 0.5); }), HasSubstr("0.5"));
}

TEST_F(ConstantTest, WithoutItsValuesIsAnError) {
  EXPECT_THAT(ErrorOf([] { Constant({3}, {1.0f, 2.0f}); }), HasSubstr("has no value"));
}

TEST_F(ZerosTest, IsAConstUntilItIsLarge) {
  EXPECT_EQ(Zeros({1000}).node()->op(), "Const");
  const Tensor large = Ones({1001}, DType::kInt64);
  EXPECT_EQ(large.node()->op(), "Fill");
  const std::vector<double> values = Doubles(large);
  ASSERT_EQ(values.size(), 1001);
  EXPECT_EQ(values[1000], 1);
  EXPECT_THAT(Doubles(Zeros({2})), ElementsAre(0, 0));
}

TEST_F(FillTest, RepeatsAScalarAndSumsItsGradient) {
  EXPECT_THAT(Doubles(Fill({2, 2}, Constant(3.0f))), ElementsAre(3, 3, 3, 3));
  EXPECT_EQ(CheckGradients(
                [](const Inputs& x) {
                  return Fill({2, 3}, x[0]);
                },
                {Array::Scalar(2.0)})
                .ToString(),
            "OK");
  EXPECT_THAT(ErrorOf([] { Fill({2}, Constant({1.0f, 2.0f})); }), HasSubstr("scalar"));
  EXPECT_THAT(ErrorOf([] { Fill({-1}, Constant(1.0f)); }), HasSubstr("-1"));
}

TEST_F(ZerosLikeTest, AndOnesLikeKeepDTypeAndShape) {
  const Tensor x = Constant({2, 1}, {5, 6});
  EXPECT_EQ(OnesLike(x).spec(), x.spec());
  EXPECT_THAT(Doubles(OnesLike(x)), ElementsAre(1, 1));
  EXPECT_THAT(Doubles(ZerosLike(x)), ElementsAre(0, 0));
}

TEST_F(RangeTest, CountsUpAndDown) {
  EXPECT_THAT(Doubles(Range(3)), ElementsAre(0, 1, 2));
  EXPECT_THAT(Doubles(Range(2, 9, {.delta = 3})), ElementsAre(2, 5, 8));
  EXPECT_THAT(Doubles(Range(3, 0, {.delta = -2, .dtype = DType::kInt64})), ElementsAre(3, 1));
  EXPECT_EQ(Range(0).shape(), Shape{0});
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  EXPECT_THAT(Doubles(Range(kMost - 3, kMost, {.delta = 2})), ElementsAre(kMost - 3, kMost - 1));
  EXPECT_THAT(ErrorOf([] { Range(0, 5, {.delta = -1}); }), HasSubstr("steps of -1"));
  EXPECT_THAT(ErrorOf([] { Range(0, 5, {.delta = 0}); }), HasSubstr("delta 0"));
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(Range(0, kLeast, {.delta = kLeast, .dtype = DType::kInt64}).shape(), Shape{1});
  EXPECT_THAT(ErrorOf([] { Range(kLeast, 1, {.dtype = DType::kInt64}); }),
              HasSubstr("has 9223372036854775809 elements"));
}

TEST(Placeholder, MustHaveAStaticShapeAndBeFed) {
  EXPECT_THAT(ErrorOf([] { Placeholder(DType::kFloat32, {-1, 3}); }), HasSubstr("unknown size"));
  EXPECT_THAT(ErrorOf([] {
                Placeholder(DType::kFloat32, {int64_t{1} << 40, int64_t{1} << 40});
              }),
              HasSubstr("more elements than any memory holds"));
  Graph graph;
  const GraphScope scope(graph);
  const Tensor x = Placeholder(DType::kFloat32, {2}, "x");
  EXPECT_EQ(x.name(), "x:0");
  EXPECT_FALSE(Eval(x).ok());
  EXPECT_EQ(Eval(x, {{x, Array::Of<float>({2}, {7, 8})}})->AsDouble(1), 8);
}

}  // namespace
}  // namespace estimator
