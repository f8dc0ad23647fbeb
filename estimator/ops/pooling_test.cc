#include "estimator/ops/pooling.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testdata/neural_ops/goldens.h"
#include "estimator/ops/testdata/neural_ops/pattern.h"
#include "estimator/ops/testing/eval.h"

namespace estimator {
namespace {

using goldens::ExpectGolden;
using goldens::Pattern;
using testing::CheckGradients;
using testing::Eval;
using testing::Scrambled;

class PoolingTest : public ::testing::Test {
 protected:
  Tensor X() { return Constant(Pattern({2, 5, 4, 3}, 1)); }

  // Both pools and their gradient ops against TensorFlow's. The pattern has many equal elements, so
  // the choice among them shows.
  void ExpectPools(const PoolOptions& options, const std::vector<float>& max,
                   const std::vector<float>& max_grad, const std::vector<float>& avg,
                   const std::vector<float>& avg_grad) {
    const Tensor y = MaxPool(X(), options);
    const Tensor g = Constant(Pattern(y.shape(), 3));
    ExpectGolden(y, max);
    ExpectGolden(MaxPoolGrad(X(), y, g, options), max_grad);
    ExpectGolden(AvgPool(X(), options), avg);
    ExpectGolden(AvgPoolGrad(X().shape(), g, options), avg_grad);
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(PoolingTest, TakesMaximumAndMeanOfEachWindow) {
  const Tensor x = Constant({1, 2, 4, 1}, {1.f, 2.f, 5.f, 0.f, 3.f, 4.f, -1.f, 0.f});
  EXPECT_EQ(Compare(*Eval(MaxPool(x)), Array::Of<float>({1, 1, 2, 1}, {4, 5})).report, "");
  EXPECT_EQ(Compare(*Eval(AvgPool(x)), Array::Of<float>({1, 1, 2, 1}, {2.5, 1})).report, "");
}

TEST_F(PoolingTest, EqualsTensorFlowsWithItsGradientOps) {
  ExpectPools({}, goldens::kMaxPoolValid, goldens::kMaxPoolValidGrad, goldens::kAvgPoolValid,
              goldens::kAvgPoolValidGrad);
  ExpectPools({.ksize = {3}, .strides = {2}, .padding = Padding::kSame}, goldens::kMaxPoolSame,
              goldens::kMaxPoolSameGrad, goldens::kAvgPoolSame, goldens::kAvgPoolSameGrad);
  ExpectPools({.ksize = {3, 2}, .strides = {1, 1}, .padding = Padding::kSame},
              goldens::kMaxPoolOverlap, goldens::kMaxPoolOverlapGrad, goldens::kAvgPoolOverlap,
              goldens::kAvgPoolOverlapGrad);
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
  EXPECT_EQ(graph_.status().message(),
            "pool3: a window of 2 does not fit into 1 with padding VALID; use SAME, or a smaller "
            "window (f32 [8,1,1,64])");
}

TEST_F(PoolingTest, AFlatInputIsAnErrorNamingTheRank) {
  EXPECT_FALSE(AvgPool(Ones({8, 64})).valid());
  EXPECT_EQ(graph_.status().message(),
            "AvgPool: input has rank 2, expected 4 (batch, rows, columns, channels) (f32 [8,64])");
}

}  // namespace
}  // namespace estimator
