#include "estimator/ops/activations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
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

using Activation = std::function<Tensor(const Tensor&)>;

struct Case {
  const char* name;
  Activation fn;
};

// A layer takes each of them as it is: `.activation = Relu`.
const std::vector<Case>& Cases() {
  static const std::vector<Case>* const cases = new std::vector<Case>{
      {"Relu", Relu},
      {"Relu6", Relu6},
      {"Elu", Elu},
      {"Selu", Selu},
      {"Softplus", Softplus},
      {"Softsign", Softsign},
      {"Sigmoid", Sigmoid},
      {"Tanh", Tanh},
      {"Swish", Swish},
      {"Gelu", Gelu},
      {"GeluApproximate", GeluApproximate},
      {"LeakyRelu", [](const Tensor& x) { return LeakyRelu(x); }},
  };
  return *cases;
}

using ActivationsTest = GraphTest;

TEST_F(ActivationsTest, GradientMatchesFiniteDifferences) {
  const Array x = Array::Of<double>({7}, {-2.5, -1, -0.3, 0.2, 0.9, 3, 6.5});
  for (const Case& c : Cases()) {
    EXPECT_EQ(CheckGradients([&](const std::vector<Tensor>& in) { return c.fn(in[0]); }, {x}),
              absl::OkStatus())
        << c.name;
  }
}

TEST_F(ActivationsTest, SecondGradientMatchesFiniteDifferences) {
  const Array x = Array::Of<double>({7}, {-2.5, -1, -0.3, 0.2, 0.9, 3, 6.5});
  for (const Case& c : Cases()) {
    const auto first = [&](const std::vector<Tensor>& in) {
      const Tensor y = c.fn(in[0]);
      return Gradients({y}, {in[0]}, {in[1]})[0];
    };
    EXPECT_EQ(CheckGradients(first, {x, Array::Of<double>({7}, {1, -2, 3, 0.5, -1, 2, 1})}),
              absl::OkStatus())
        << c.name;
  }
}

TEST_F(ActivationsTest, SaturateInsteadOfOverflowing) {
  const Tensor x = Constant({-1000.f, 1000.f});
  EXPECT_EQ(Compare(*Eval(Sigmoid(x)), Array::Of<float>({2}, {0, 1})).report, "");
  EXPECT_EQ(Compare(*Eval(Softplus(x)), Array::Of<float>({2}, {0, 1000})).report, "");
  EXPECT_EQ(Compare(*Eval(Tanh(x)), Array::Of<float>({2}, {-1, 1})).report, "");
}

TEST_F(ActivationsTest, KeepAlphaInTheGraph) {
  EXPECT_EQ(Eval(LeakyRelu(Constant(-2.f), 0.25f))->AsDouble(), -0.5);
}

TEST_F(ActivationsTest, AnIntegerInputIsAnErrorWithTheCure) {
  EXPECT_FALSE(Relu(Constant({1, 2})).valid());
  EXPECT_THAT(
      graph_.status(),
      ErrorIs("Relu: input 0 is int32, expected a floating type: Cast it to float32 (i32 [2])"));
}

}  // namespace
}  // namespace estimator
