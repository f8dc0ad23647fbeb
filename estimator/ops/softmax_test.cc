#include "estimator/ops/softmax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
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

using SoftmaxTest = GraphTest;

TEST_F(SoftmaxTest, LargeLogitsDoNotOverflow) {
  const Tensor x = Constant({1, 3}, {1000.f, 1000.f, -1000.f});
  EXPECT_EQ(Compare(*Eval(Softmax(x)), Array::Of<float>({1, 3}, {0.5, 0.5, 0})).report, "");
  EXPECT_NEAR(Eval(SparseSoftmaxCrossEntropyWithLogits(Constant({2}), x))->AsDouble(),
              2000 + std::log(2), 1e-3);
  EXPECT_EQ(Eval(SigmoidCrossEntropyWithLogits(Constant({1.f}), Constant({-1000.f})))->AsDouble(),
            1000);
}

TEST_F(SoftmaxTest, HigherRanksAndOtherAxesAreRowsToo) {
  const Array x = Scrambled({2, 3, 4}, -2, 2), z = Scrambled({2, 3, 4}, 0, 1);
  for (const int axis : {0, 1, 2, -1}) {
    const Array loss = *Eval(SoftmaxCrossEntropyWithLogits(Constant(z), Constant(x), axis));
    const Array log = *Eval(LogSoftmax(Constant(x), axis));
    Array expected(DType::kFloat64, loss.shape());
    const int used = axis < 0 ? 2 : axis;
    for (int64_t i = 0; i < 24; ++i) {
      const int64_t at[3] = {i / 12, i / 4 % 3, i % 4};
      int64_t row = 0;
      for (int a = 0; a < 3; ++a) {
        if (a != used) row = row * x.shape().dim(a) + at[a];
      }
      expected.data<double>()[row] -= z.data<double>()[i] * log.data<double>()[i];
    }
    EXPECT_EQ(Compare(loss, expected, {.relative = 1e-12}).report, "") << axis;
  }
  const Tensor labels = Constant({2, 3}, {0, 1, 2, 3, 0, 1});
  const Array sparse = *Eval(SparseSoftmaxCrossEntropyWithLogits(labels, Constant(x)));
  EXPECT_EQ(sparse.shape(), (Shape{2, 3}));
  EXPECT_NEAR(sparse.AsDouble(4), -Eval(LogSoftmax(Constant(x)))->AsDouble(16), 1e-12);
}

TEST_F(SoftmaxTest, GradientMatchesFiniteDifferences) {
  const Array x = Scrambled({2, 3}, -1, 1), y = Scrambled({2, 2, 3}, -1, 1);
  const Array z = Array::Of<double>({2, 3}, {0.25, 0.5, 0.25, 0, 0.1, 0.9});
  const auto check = [](const testing::TensorFn& fn, const std::vector<Array>& inputs) {
    return CheckGradients(fn, inputs);
  };
  using In = const std::vector<Tensor>&;
  EXPECT_EQ(check([](In in) { return Softmax(in[0]); }, {x}), absl::OkStatus());
  EXPECT_EQ(check([](In in) { return Softmax(in[0], 1); }, {y}), absl::OkStatus());
  EXPECT_EQ(check([](In in) { return LogSoftmax(in[0]); }, {x}), absl::OkStatus());
  EXPECT_EQ(check([](In in) { return LogSoftmax(in[0], 0); }, {y}), absl::OkStatus());
  // Rows of labels that sum to 1: only there is TensorFlow's gradient the derivative.
  EXPECT_EQ(check([&](In in) { return SoftmaxCrossEntropyWithLogits(Constant(z), in[0]); }, {x}),
            absl::OkStatus());
  EXPECT_EQ(check([&](In in) { return SoftmaxCrossEntropyWithLogits(in[0], Constant(x)); }, {z}),
            absl::OkStatus());
  EXPECT_EQ(check(
                [](In in) {
                  return SparseSoftmaxCrossEntropyWithLogits(Constant({2, 0}), in[0]);
                },
                {x}),
            absl::OkStatus());
  EXPECT_EQ(check([](In in) { return SigmoidCrossEntropyWithLogits(in[0], in[1]); }, {z, x}),
            absl::OkStatus());
}

TEST_F(SoftmaxTest, SecondGradientOfACrossEntropyMatchesFiniteDifferences) {
  const auto first = [](const std::vector<Tensor>& in) {
    const Tensor loss = SparseSoftmaxCrossEntropyWithLogits(Constant({2, 0}), in[0]);
    return Gradients({loss}, {in[0]}, {in[1]})[0];
  };
  EXPECT_EQ(CheckGradients(first, {Scrambled({2, 3}, -1, 1), Array::Of<double>({2}, {0.5, -2})}),
            absl::OkStatus());
}

TEST_F(SoftmaxTest, ALabelOutOfRangeIsNamedWithItsRow) {
  const Tensor logits = Ones({3, 10});
  const absl::Status large =
      Eval(SparseSoftmaxCrossEntropyWithLogits(Constant({1, 10, 2}), logits, "xent")).status();
  EXPECT_THAT(
      large,
      ErrorHas("xent: row 1 has label 10, but there are 10 classes: labels must be in [0, 10)"));
  const Tensor labels = Constant(Array::Of<int64_t>({3}, {1, 2, -1}));
  const absl::Status negative = Eval(SparseSoftmaxCrossEntropyWithLogits(labels, logits)).status();
  EXPECT_THAT(negative, ErrorHas("row 2 has label -1, but there are 10 classes"));
}

TEST_F(SoftmaxTest, LabelsOfAnotherShapeAreAnError) {
  EXPECT_FALSE(
      SparseSoftmaxCrossEntropyWithLogits(Constant({1, 2, 3, 4}), Ones({3, 10}), "xent").valid());
  EXPECT_THAT(graph_.status(),
              ErrorIs("xent: labels is [4], expected [3] (f32 [3,10] and i32 [4])"));
}

TEST_F(SoftmaxTest, OneHotLabelsForTheSparseLossAreAnErrorWithTheCure) {
  EXPECT_FALSE(SparseSoftmaxCrossEntropyWithLogits(Ones({3, 10}), Ones({3, 10}), "xent").valid());
  EXPECT_THAT(graph_.status(),
              ErrorIs("xent: labels is float32, expected int32 or int64: Cast it, or use "
                      "SoftmaxCrossEntropyWithLogits if these "
                      "are one-hot labels (f32 [3,10] and f32 [3,10])"));
}

TEST_F(SoftmaxTest, SigmoidLabelsOfAnotherTypeAreAnErrorWithBothTypes) {
  EXPECT_FALSE(SigmoidCrossEntropyWithLogits(Ones({3, 1}), Ones({3})).valid());
  EXPECT_THAT(graph_.status(),
              ErrorIs("logistic_loss: labels and logits differ: f32 [3,1] and f32 [3]"));
}

}  // namespace
}  // namespace estimator
