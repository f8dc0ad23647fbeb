#include "estimator/ops/pooling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using testing::Eval;
using testing::Scrambled;

using PoolingTest = GraphTest;

TEST_F(PoolingTest, TakesMaximumAndMeanOfEachWindow) {
  const Tensor x = Constant({1, 2, 4, 1}, {1.f, 2.f, 5.f, 0.f, 3.f, 4.f, -1.f, 0.f});
  EXPECT_EQ(Compare(*Eval(MaxPool(x)), Array::Of<float>({1, 1, 2, 1}, {4, 5})).report, "");
  EXPECT_EQ(Compare(*Eval(AvgPool(x)), Array::Of<float>({1, 1, 2, 1}, {2.5, 1})).report, "");
}

TEST_F(PoolingTest, GradientOfAMaximumGoesToTheFirstOfEquals) {
  const Tensor x = Constant({1, 2, 2, 1}, {1.f, 7.f, 7.f, 7.f});
  const Tensor dx = Gradients({MaxPool(x)}, {x})[0];
  EXPECT_EQ(Compare(*Eval(dx), Array::Of<float>({1, 2, 2, 1}, {0, 1, 0, 0})).report, "");
}

TEST_F(PoolingTest, NegativeInputsAreNotBeatenByPadding) {
  const Tensor x = Constant({1, 1, 1, 1}, {-3.f});
  const PoolOptions options = {.ksize = {3}, .strides = {1}, .padding = Padding::kSame};
  EXPECT_EQ(Eval(MaxPool(x, options))->AsDouble(), -3);
  EXPECT_EQ(Eval(AvgPool(x, options))->AsDouble(), -3);
}

TEST_F(PoolingTest, GradientMatchesFiniteDifferences) {
  const Array x = Scrambled({1, 5, 4, 2}, -1, 1);
  for (const PoolOptions& options : std::vector<PoolOptions>{
           {}, {.ksize = {3, 2}, .strides = {1, 2}, .padding = Padding::kSame}}) {
    EXPECT_EQ(
        CheckGradients([&](const std::vector<Tensor>& in) { return MaxPool(in[0], options); }, {x}),
        absl::OkStatus());
    EXPECT_EQ(
        CheckGradients([&](const std::vector<Tensor>& in) { return AvgPool(in[0], options); }, {x}),
        absl::OkStatus());
  }
  const auto grad = [](const std::vector<Tensor>& in) { return AvgPoolGrad({1, 4, 4, 1}, in[0]); };
  EXPECT_EQ(CheckGradients(grad, {Scrambled({1, 2, 2, 1}, -1, 1)}), absl::OkStatus());
}

TEST_F(PoolingTest, GlobalPoolsReduceRowsAndColumns) {
  const Tensor x = Constant({1, 2, 2, 2}, {1.f, -1.f, 2.f, -2.f, 3.f, -3.f, 6.f, -6.f});
  EXPECT_EQ(Compare(*Eval(GlobalAvgPool(x)), Array::Of<float>({1, 2}, {3, -3})).report, "");
  EXPECT_EQ(Compare(*Eval(GlobalMaxPool(x)), Array::Of<float>({1, 2}, {6, -1})).report, "");
  EXPECT_EQ(GlobalAvgPool(x, /*keepdims=*/true).shape(), (Shape{1, 1, 1, 2}));
}

TEST_F(PoolingTest, AWindowLargerThanTheImageIsAnError) {
  EXPECT_FALSE(MaxPool(Ones({8, 1, 1, 64}), {.name = "pool3"}).valid());
  EXPECT_THAT(
      graph_.status(),
      ErrorIs("pool3: a window of 2 does not fit into 1 with padding VALID; use SAME, or a smaller "
              "window (f32 [8,1,1,64])"));
}

TEST_F(PoolingTest, AFlatInputIsAnErrorNamingTheRank) {
  EXPECT_FALSE(AvgPool(Ones({8, 64})).valid());
  EXPECT_THAT(
      graph_.status(),
      ErrorIs(
          "AvgPool: input has rank 2, expected 4 (batch, rows, columns, channels) (f32 [8,64])"));
}

}  // namespace
}  // namespace estimator
