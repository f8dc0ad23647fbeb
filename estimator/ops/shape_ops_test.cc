#include "estimator/ops/shape_ops.h"

#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
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

using ShapeOfTest = GraphTest;
using ExpandDimsTest = GraphTest;
using BroadcastToTest = GraphTest;
using StopGradientTest = GraphTest;
using EnsureShapeTest = GraphTest;

TEST_F(ShapeOfTest, IsAConstantOfAnyTensor) {
  const Tensor x = Placeholder(DType::kFloat32, {4, 6});
  EXPECT_EQ(ShapeOf(x).spec().ToString(), "i32 [2]");
  const Tensor reshaped = Reshape(Zeros({24}), ShapeOf(x));
  EXPECT_EQ(graph_.status().ToString(), "OK");
  EXPECT_EQ(reshaped.shape(), (Shape{4, 6}));
  const Tensor y = Zeros({2, 3});
  EXPECT_THAT(Doubles(ShapeOf(y, DType::kInt64)), ElementsAre(2, 3));
  EXPECT_THAT(Doubles(SizeOf(y)), ElementsAre(6));
  EXPECT_THAT(Doubles(RankOf(y)), ElementsAre(2));
}

TEST(Reshape, InfersOneSize) {
  Graph graph;
  const GraphScope scope(graph);
  const Tensor x = Constant({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(Reshape(x, {3, -1}).shape(), (Shape{3, 2}));
  EXPECT_EQ(Reshape(x, {-1}).shape(), Shape{6});
  EXPECT_THAT(Doubles(Reshape(x, {3, 2})), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(Reshape(Constant({7}), Shape{}).shape(), Shape{});
  EXPECT_EQ(Reshape(x, {6}, "flat").name(), "flat:0");
  EXPECT_NE(graph.FindNode("flat/shape"), nullptr);
}

TEST(Reshape, RefusesOtherElementCounts) {
  EXPECT_THAT(ErrorOf([] { Reshape(Zeros({2, 3}), {4, -1}); }), HasSubstr("[2,3], 6 elements"));
  EXPECT_THAT(ErrorOf([] { Reshape(Zeros({2, 3}), {5}); }), HasSubstr("[5]"));
  EXPECT_THAT(ErrorOf([] { Reshape(Zeros({2, 3}), {-1, -1}); }), HasSubstr("more than one -1"));
  EXPECT_THAT(ErrorOf([] { Reshape(Zeros({2}), Placeholder(DType::kInt32, {1})); }),
              HasSubstr("constant"));
}

TEST_F(ExpandDimsTest, AndSqueezeAreInverse) {
  const Tensor x = Zeros({2, 3});
  EXPECT_EQ(ExpandDims(x, 0).shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(ExpandDims(x, -1).shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(Squeeze(ExpandDims(x, 1)).shape(), (Shape{2, 3}));
  EXPECT_EQ(Squeeze(Zeros({1, 2, 1}), {-1}).shape(), (Shape{1, 2}));
  EXPECT_THAT(ErrorOf([] { Squeeze(Zeros({2, 1}), {0}); }), HasSubstr("size is not 1"));
  EXPECT_THAT(ErrorOf([] { ExpandDims(Zeros({2}), 3); }), HasSubstr("axis 3"));
}

TEST_F(BroadcastToTest, Repeats) {
  EXPECT_THAT(Doubles(BroadcastTo(Constant({2, 1}, {1, 2}), {2, 2, 2})),
              ElementsAre(1, 1, 2, 2, 1, 1, 2, 2));
  EXPECT_THAT(ErrorOf([] {
                BroadcastTo(Zeros({2, 3}), {3});
              }),
              HasSubstr("cannot broadcast [2,3] to [3]"));
}

TEST_F(StopGradientTest, PassesTheValueAndNoGradient) {
  EXPECT_THAT(Doubles(StopGradient(Constant({1, 2}))), ElementsAre(1, 2));
  // x * stop(x) has derivative x: half of that of x * x.
  const absl::Status status = CheckGradients(
      [](const Inputs& x) { return x[0] * StopGradient(x[0]); }, {Array::Scalar(3.0)});
  EXPECT_THAT(status, ErrorHas("finite differences give"));
}

TEST_F(EnsureShapeTest, ChecksWithUnknownSizes) {
  EXPECT_EQ(EnsureShape(Zeros({2, 3}), {-1, 3}).shape(), (Shape{2, 3}));
  EXPECT_THAT(ErrorOf([] {
                EnsureShape(Zeros({2, 3}), {3, 3});
              }),
              HasSubstr("the shape is [2,3], not [3,3]"));
}

TEST(ShapeOps, GradientsMatchFiniteDifferences) {
  const Array x = Scrambled({2, 1, 3}, -1, 1);
  const std::vector<testing::TensorFn> builds = {
      [](const Inputs& in) {
        return Reshape(in[0], {3, 2});
      },
      [](const Inputs& in) { return ExpandDims(in[0], 2); },
      [](const Inputs& in) { return Squeeze(in[0]); },
      [](const Inputs& in) { return Identity(in[0]); },
      [](const Inputs& in) {
        return EnsureShape(in[0], {2, 1, 3});
      },
      [](const Inputs& in) {
        return BroadcastTo(in[0], {2, 2, 2, 3});
      }};
  for (const auto& build : builds) EXPECT_EQ(CheckGradients(build, {x}).ToString(), "OK");
}

}  // namespace
}  // namespace estimator
