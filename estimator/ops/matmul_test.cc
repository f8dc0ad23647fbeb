#include "estimator/ops/matmul.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/testing/eval.h"
#include "estimator/ops/testing/pattern.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using testing::Eval;
using testing::Scrambled;

using MatMulTest = GraphTest;

TEST_F(MatMulTest, IntegersWrapAround) {
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  const Tensor a = Constant(Array::Of<int32_t>({1, 3}, {kLeast, kLeast, 3}));
  const Tensor b = Constant(Array::Of<int32_t>({3, 1}, {kLeast, kLeast, 5}));
  EXPECT_EQ(Compare(*Eval(MatMul(a, b)), Array::Of<int32_t>({1, 1}, {15})).report, "");
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const Tensor c = Constant(Array::Of<int64_t>({1, 2}, {kMost, 2}));
  EXPECT_EQ(
      Compare(*Eval(MatMul(c, c, {.transpose_b = true})), Array::Of<int64_t>({1, 1}, {5})).report,
      "");
}

TEST_F(MatMulTest, MultipliesTwoMatricesHoweverTheyAreStored) {
  const Tensor a = Constant({2, 3}, {1.f, 2.f, 3.f, 4.f, 5.f, 6.f}),
               at = Constant({3, 2}, {1.f, 4.f, 2.f, 5.f, 3.f, 6.f});
  const Tensor b = Constant({3, 2}, {7.f, 8.f, 9.f, 10.f, 11.f, 12.f});
  const Tensor bt = Constant({2, 3}, {7.f, 9.f, 11.f, 8.f, 10.f, 12.f});
  const Array expected = Array::Of<float>({2, 2}, {58, 64, 139, 154});
  const std::vector<Tensor> products = {MatMul(a, b), MatMul(at, b, {.transpose_a = true}),
                                        MatMul(a, bt, {.transpose_b = true}),
                                        MatMul(at, bt, {.transpose_a = true, .transpose_b = true})};
  for (const Tensor& product : products)
    EXPECT_EQ(Compare(*Eval(product), expected).report, "") << product.name();
}

TEST_F(MatMulTest, ManyRowsAreTheSumsOfProducts) {
  const Array a = testing::Pattern({7, 5}, 1), b = testing::Pattern({5, 6}, 2);
  const Array product = *Eval(MatMul(Constant(a), Constant(b)));
  for (int64_t i = 0; i < 7; ++i) {
    for (int64_t j = 0; j < 6; ++j) {
      float sum = 0;  // exact: all are sixty-fourths
      for (int64_t k = 0; k < 5; ++k)
        sum += a.data<float>()[i * 5 + k] * b.data<float>()[k * 6 + j];
      EXPECT_EQ(product.data<float>()[i * 6 + j], sum) << i << "," << j;
    }
  }
}

TEST_F(MatMulTest, Bfloat16SumsInFloat32) {
  // In bfloat16 itself, a sum of ones stops at 256.
  const Tensor ones = Cast(Ones({1, 300}), DType::kBfloat16);
  const Array sum = *Eval(MatMul(ones, ones, {.transpose_b = true}));
  EXPECT_EQ(sum.dtype(), DType::kBfloat16);
  EXPECT_EQ(sum.AsDouble(), 300);
}

TEST_F(MatMulTest, LeadingAxesBroadcast) {
  const Array x = testing::Pattern({2, 1, 2, 3}, 1), y = testing::Pattern({3, 3, 2}, 2);
  const Tensor product = MatMul(Constant(x), Constant(y));
  EXPECT_EQ(product.node()->op(), "BatchMatMulV2");
  const Array actual = *Eval(product);
  ASSERT_EQ(actual.shape(), (Shape{2, 3, 2, 2}));
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      const Array one = *Eval(MatMul(Constant(x.Row(i).Row(0)), Constant(y.Row(j))));
      EXPECT_EQ(Compare(actual.Row(i).Row(j), one).report, "");
    }
  }
}

TEST_F(MatMulTest, IntegersMultiplyExactly) {
  const Tensor a = Constant({1, 2}, {100003, 7}), b = Constant({2, 1}, {20011, -3});
  EXPECT_EQ(Eval(MatMul(a, b))->scalar<int32_t>(), 100003 * 20011 - 21);
}

TEST_F(MatMulTest, GradientMatchesFiniteDifferencesForEveryTransposition) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const auto product = [&](const std::vector<Tensor>& in) {
        return MatMul(in[0], in[1], {.transpose_a = ta, .transpose_b = tb});
      };
      const Shape a = ta ? Shape{3, 2} : Shape{2, 3}, b = tb ? Shape{4, 3} : Shape{3, 4};
      EXPECT_EQ(CheckGradients(product, {Scrambled(a, -1, 1), Scrambled(b, -2, 1)}),
                absl::OkStatus())
          << ta << tb;
    }
  }
}

TEST_F(MatMulTest, BatchGradientMatchesFiniteDifferencesAndSumsOverBroadcastAxes) {
  for (const bool ax : {false, true}) {
    for (const bool ay : {false, true}) {
      const auto product = [&](const std::vector<Tensor>& in) {
        return BatchMatMulV2(in[0], in[1], {.adj_x = ax, .adj_y = ay});
      };
      const Shape x = ax ? Shape{2, 1, 3, 2} : Shape{2, 1, 2, 3},
                  y = ay ? Shape{2, 2, 3} : Shape{2, 3, 2};
      EXPECT_EQ(CheckGradients(product, {Scrambled(x, -1, 1), Scrambled(y, -2, 1)}),
                absl::OkStatus())
          << ax << ay;
    }
  }
}

TEST_F(MatMulTest, DifferentInnerSizesAreAnErrorWithBothTypes) {
  EXPECT_FALSE(MatMul(Ones({2, 3}), Ones({4, 5}), {}, "logits").valid());
  EXPECT_THAT(
      graph_.status(),
      ErrorIs("logits: inner sizes differ: 3 columns of a, 4 rows of b (f32 [2,3] and f32 [4,5])"));
}

TEST_F(MatMulTest, DifferentTypesAreAnError) {
  EXPECT_FALSE(MatMul(Ones({2, 3}), Ones({3, 5}, DType::kFloat64)).valid());
  EXPECT_THAT(graph_.status(), ErrorIs("MatMul: input 1 is float64, input 0 is float32: Cast one "
                                       "of them (f32 [2,3] and f64 [3,5])"));
}

}  // namespace
}  // namespace estimator
