#include "estimator/ops/custom_gradient.h"

#include <string>
#include <vector>

#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::Doubles;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CustomGradientTest : public GraphTest {
 protected:
  // The gradient of the sum of y for x.
  std::vector<double> GradientOf(const Tensor& y, const Tensor& x) {
    return Doubles(Gradients(Tensors{y}, {x})[0]);
  }
  // The error of building the gradient of the sum of y for x.
  std::string ErrorOfGradient(const Tensor& y, const Tensor& x) {
    Gradients(Tensors{y}, {x});
    return std::string(graph_.status().message());
  }
};

TEST_F(CustomGradientTest, ComputesForwardAndFlowsThroughBackwardOnly) {
  const auto reversed =
      CustomGradient([](const Tensor& x) { return x; }, [](const Tensor& dy) { return dy * -0.5; });
  const Tensor x = Constant({1.f, 2.f});
  const Tensor y = reversed(x);
  EXPECT_THAT(Doubles(y), ElementsAre(1, 2));
  EXPECT_THAT(GradientOf(y * 3, x), ElementsAre(-1.5, -1.5));
}

TEST_F(CustomGradientTest, BackwardMayTakeInputsOutputAndGradient) {
  const auto log1p_exp = CustomGradient([](const Tensor& x) { return Log(1 + Exp(x)); },
                                        [](const Tensor& x, const Tensor& y, const Tensor& dy) {
                                          EXPECT_EQ(y.shape(), x.shape());
                                          return dy * Sigmoid(x);
                                        });
  // The gradient of the ops would be inf / inf.
  const Tensor x = Constant({100.f, 0.f});
  EXPECT_THAT(GradientOf(log1p_exp(x), x), ElementsAre(1, 0.5));
}

TEST_F(CustomGradientTest, SeveralInputsGetOneGradientEach) {
  const auto product =
      CustomGradient([](const Tensor& a, const Tensor& b) { return a * b; },
                     [](const Tensor& a, const Tensor& b, const Tensor& y, const Tensor& dy) {
                       return Tensors{dy * b * 10, dy * a * 100 + y * 0};
                     });
  const Tensor a = Constant(2.f), b = Constant(3.f);
  const Tensors grads = Gradients(Tensors{product(a, b)}, {a, b});
  EXPECT_THAT(Doubles(grads[0]), ElementsAre(30));
  EXPECT_THAT(Doubles(grads[1]), ElementsAre(200));
}

TEST_F(CustomGradientTest, OfAnUnusedOutputTheGradientIsZeros) {
  const auto both = CustomGradient(
      [](const Tensor& x) {
        return Tensors{x * 2, x * 3};
      },
      [](const Tensors& inputs, const Tensors& outputs, const Tensors& grads) {
        EXPECT_EQ(inputs.size(), 1u);
        EXPECT_EQ(outputs.size(), 2u);
        return grads[0] * 2 + grads[1] * 3 + 1;
      });
  const Tensor x = Constant(5.f);
  const Tensors outputs = both(x);
  EXPECT_THAT(Doubles(outputs[1]), ElementsAre(15));
  EXPECT_THAT(GradientOf(outputs[1], x), ElementsAre(4));
  EXPECT_THAT(GradientOf(outputs[0] + outputs[1], x), ElementsAre(6));
}

TEST_F(CustomGradientTest, NoGradientFlowsToAnInputWithoutOne) {
  const auto looked_up =
      CustomGradient([](const Tensor& table, const Tensor& ids) { return Gather(table, ids); },
                     [](const Tensor& table, const Tensor&, const Tensor&, const Tensor& dy) {
                       return Tensors{ZerosLike(table) + ReduceSum(dy, {}), Tensor()};
                     });
  const Tensor table = Constant({1.f, 2.f, 3.f}), ids = Constant({1, 1});
  const Tensors grads = Gradients(Tensors{looked_up(table, ids)}, {table, ids});
  EXPECT_THAT(Doubles(grads[0]), ElementsAre(2, 2, 2));
  EXPECT_FALSE(grads[1].valid());
}

TEST_F(CustomGradientTest, IsDifferentiatedTwiceThroughTheOpsOfBackward) {
  // forward is x^2, backward says d = 3 x.
  const auto square =
      CustomGradient([](const Tensor& x) { return Square(x); },
                     [](const Tensor& x, const Tensor&, const Tensor& dy) { return dy * x * 3; });
  const Tensor x = Constant(2.f);
  const Tensor first = Gradients(Tensors{square(x)}, {x})[0];
  EXPECT_THAT(Doubles(first), ElementsAre(6));
  EXPECT_THAT(GradientOf(first, x), ElementsAre(3));
}

TEST_F(CustomGradientTest, NestsAndRepeats) {
  const auto twice = CustomGradient([](const Tensor& x) { return x * 2; },
                                    [](const Tensor& dy) { return dy * 20; });
  const auto outer = CustomGradient([&](const Tensor& x) { return twice(x) + 1; },
                                    [](const Tensor& dy) { return dy * 7; });
  const Tensor x = Constant(1.f);
  EXPECT_THAT(GradientOf(outer(x), x), ElementsAre(7));
  EXPECT_THAT(GradientOf(twice(twice(x)), x), ElementsAre(400));
}

TEST_F(CustomGradientTest, AVariableIsAnInputAndGetsItsGradient) {
  const Variable w = GetVariable("w", {2, 1});
  const auto straight_through = CustomGradient(
      [](const Tensor& x, const Tensor& w) { return MatMul(x, Sign(w)); },
      [](const Tensor& x, const Tensor& w, const Tensor&, const Tensor& dy) {
        return Tensors{MatMul(dy, w, {.transpose_b = true}), MatMul(x, dy, {.transpose_a = true})};
      });
  const Tensor x = Constant({1, 2}, {3.f, 4.f});
  EXPECT_THAT(Doubles(Gradients(straight_through(x, w), {w})[0]), ElementsAre(3, 4));
}

TEST_F(CustomGradientTest, AVariableThatIsNoInputIsNamedWithTheCure) {
  const Variable w = GetVariable("w", {});
  CustomGradient([&](const Tensor& x) { return x * w; },
                 [](const Tensor& dy) { return dy; })(Constant(1.f));
  EXPECT_THAT(std::string(graph_.status().message()),
              HasSubstr("forward depends on the variable 'w', which is not one of its inputs and "
                        "would get no gradient; create the variable before, pass it as an input"));
}

TEST_F(CustomGradientTest, AVariableThroughWhichNoGradientFlowsNeedNotBeAnInput) {
  const Variable w = GetVariable("w", {});
  const Variable mean = GetVariable("mean", {}, {.trainable = false});
  CustomGradient([&](const Tensor& x) { return x * StopGradient(w) + mean; },
                 [](const Tensor& dy) { return dy; })(Constant(1.f));
  EXPECT_TRUE(graph_.status().ok()) << graph_.status();
}

TEST_F(CustomGradientTest, AnotherNumberOfGradientsIsAnError) {
  const auto wrong = CustomGradient([](const Tensor& a, const Tensor& b) { return a + b; },
                                    [](const Tensor& dy) { return dy; });
  const Tensor x = Constant(1.f);
  EXPECT_THAT(ErrorOfGradient(wrong(x, Constant(2.f)), x),
              HasSubstr("backward returned 1 gradients, forward has 2 inputs"));
}

TEST_F(CustomGradientTest, AGradientOfAnotherShapeIsAnError) {
  const auto wrong = CustomGradient([](const Tensor& x) { return x; },
                                    [](const Tensor& dy) { return ReduceSum(dy, {}); });
  const Tensor x = Constant({1.f, 2.f});
  EXPECT_THAT(ErrorOfGradient(wrong(x), x),
              HasSubstr("backward returned f32 [] for input 0, which is f32 [2]"));
}

TEST_F(CustomGradientTest, AnErrorOfForwardStaysTheFirstOne) {
  const auto fails = CustomGradient([](const Tensor& x) { return MatMul(x, x); },
                                    [](const Tensor& dy) { return dy; });
  EXPECT_FALSE(fails(Constant({2, 3}, {1.f, 2.f, 3.f, 4.f, 5.f, 6.f})).valid());
  EXPECT_THAT(std::string(graph_.status().message()), HasSubstr("MatMul"));
}

TEST_F(CustomGradientTest, TheGraphHasTensorFlowsIdentityNWithTheNameOfTheGradient) {
  const auto same =
      CustomGradient([](const Tensor& x) { return x * 1; }, [](const Tensor& dy) { return dy; });
  const Tensor x = Constant(1.f);
  const Tensor y = same(x), z = same(x);
  EXPECT_EQ(y.node()->op(), "IdentityN");
  EXPECT_EQ(y.node()->num_outputs(), 2);
  EXPECT_EQ(y.node()->attrs().s("_gradient_op_type"), "CustomGradient-0");
  EXPECT_EQ(z.node()->attrs().s("_gradient_op_type"), "CustomGradient-1");
}

}  // namespace
}  // namespace estimator
