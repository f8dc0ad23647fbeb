#include "estimator/ops/bias.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using testing::Eval;
using testing::Scrambled;

using BiasTest = GraphTest;

TEST_F(BiasTest, AddsTheBiasOfEachChannel) {
  const Tensor y = BiasAdd(Constant({2, 1, 1, 2}, {1.f, 2.f, 3.f, 4.f}), Constant({10.f, 20.f}));
  EXPECT_EQ(Compare(*Eval(y), Array::Of<float>({2, 1, 1, 2}, {11, 22, 13, 24})).report, "");
}

TEST_F(BiasTest, GradientSumsOverAllOtherAxes) {
  const Tensor g = BiasAddGrad(Constant({2, 1, 1, 2}, {1.f, 2.f, 3.f, 4.f}));
  EXPECT_EQ(Compare(*Eval(g), Array::Of<float>({2}, {4, 6})).report, "");
}

TEST_F(BiasTest, SumsOfManyElementsKeepTheirPrecision) {
  // In float32, a sum of 2^24 + 1 ones stops at 2^24; here 2^24 in one element, then small ones.
  const Tensor g = BiasAddGrad(Constant({5, 1}, {16777216.f, 1.f, 1.f, 1.f, 1.f}));
  EXPECT_EQ(Eval(g)->AsDouble(), 16777220);
}

TEST_F(BiasTest, GradientMatchesFiniteDifferences) {
  const auto fn = [](const std::vector<Tensor>& in) { return BiasAdd(in[0], in[1]); };
  EXPECT_EQ(CheckGradients(fn, {Scrambled({2, 3, 2}, -1, 1), Scrambled({2}, -1, 1)}),
            absl::OkStatus());
  const auto grad = [](const std::vector<Tensor>& in) { return BiasAddGrad(in[0]); };
  EXPECT_EQ(CheckGradients(grad, {Scrambled({2, 3, 2}, -1, 1)}), absl::OkStatus());
}

TEST_F(BiasTest, ABiasOfAnotherSizeIsAnErrorWithBothTypes) {
  EXPECT_FALSE(BiasAdd(Ones({8, 10}), Ones({12})).valid());
  EXPECT_THAT(graph_.status(),
              ErrorIs("BiasAdd: input has 10 channels, bias has 12 (f32 [8,10] and f32 [12])"));
}

}  // namespace
}  // namespace estimator
