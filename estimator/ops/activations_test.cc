#include "estimator/ops/activations.h"

#include <gtest/gtest.h>

#include <functional>
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
using testing::CheckGradients;
using testing::Eval;

using Activation = std::function<Tensor(const Tensor&)>;

struct Case {
  const char* name;
  Activation fn;
  const std::vector<float>* golden;
  const std::vector<float>* gradient;
};

// A layer takes each of them as it is: `.activation = Relu`.
const std::vector<Case>& Cases() {
  static const std::vector<Case>* const cases = new std::vector<Case>{
      {"Relu", Relu, &goldens::kRelu, &goldens::kReluGrad},
      {"Relu6", Relu6, &goldens::kRelu6, &goldens::kRelu6Grad},
      {"Elu", Elu, &goldens::kElu, &goldens::kEluGrad},
      {"Selu", Selu, &goldens::kSelu, &goldens::kSeluGrad},
      {"Softplus", Softplus, &goldens::kSoftplus, &goldens::kSoftplusGrad},
      {"Softsign", Softsign, &goldens::kSoftsign, &goldens::kSoftsignGrad},
      {"Sigmoid", Sigmoid, &goldens::kSigmoid, &goldens::kSigmoidGrad},
      {"Tanh", Tanh, &goldens::kTanh, &goldens::kTanhGrad},
      {"Swish", Swish, &goldens::kSwish, &goldens::kSwishGrad},
      {"Gelu", Gelu, &goldens::kGelu, &goldens::kGeluGrad},
      {"GeluApproximate", GeluApproximate, &goldens::kGeluApproximate,
       &goldens::kGeluApproximateGrad},
      {"LeakyRelu", [](const Tensor& x) { return LeakyRelu(x); }, &goldens::kLeakyRelu,
       &goldens::kLeakyReluGrad},
  };
  return *cases;
}

class ActivationsTest : public ::testing::Test {
 protected:
  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(ActivationsTest, EqualTensorFlowsWithTheirGradients) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    const Tensor x = Constant(goldens::kActivationInputs);
    const Tensor y = c.fn(x);
    // Exponentials differ in the last bits, which 1 + erf and 1 + tanh magnify near -1.
    const Tolerance tolerance = {.relative = 1e-5, .absolute = 2e-6};
    ExpectGolden(y, *c.golden, tolerance);
    ExpectGolden(Gradients({y}, {x})[0], *c.gradient, tolerance);
  }
}

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
  EXPECT_EQ(graph_.status().message(),
            "Relu: input 0 is int32, expected a floating type: Cast it to float32 (i32 [2])");
}

}  // namespace
}  // namespace estimator
