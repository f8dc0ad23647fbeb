#include "estimator/ops/while_loop.h"

#include <functional>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/graph/variable.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/random.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/summary.h"
#include "estimator/ops/tensor_array.h"
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

// x^n by n trips.
Tensor Power(const Tensor& x, const Tensor& n, const WhileLoopOptions& options = {}) {
  return WhileLoop([&](const Tensors& v) { return Less(v[0], n); },
                   [&](const Tensors& v) {
                     return Tensors{Add(v[0], 1), Multiply(v[1], x)};
                   },
                   {Constant(0), OnesLike(x)}, options)[1];
}

using WhileLoopTest = GraphTest;

TEST_F(WhileLoopTest, RunsUntilTheConditionIsFalse) {
  EXPECT_THAT(Doubles(Power(Constant({2.0, 3.0}), Constant(5))), ElementsAre(32, 243));
  EXPECT_THAT(Doubles(Power(Constant({2.0, 3.0}), Constant(0))), ElementsAre(1, 1));
}

TEST_F(WhileLoopTest, EndsAfterMaximumIterations) {
  EXPECT_THAT(Doubles(Power(Constant({2.0}), Constant(5), {.maximum_iterations = 3})),
              ElementsAre(8));
  EXPECT_THAT(Doubles(Power(Constant({2.0}), Constant(5), {.maximum_iterations = 0})),
              ElementsAre(1));
}

TEST_F(WhileLoopTest, GradientsMatchFiniteDifferences) {
  const auto fn = [](const Tensors& in) { return Power(in[0], Constant(4)); };
  EXPECT_THAT(CheckGradients(fn, {Scrambled({3}, 0.5, 1.5)}), IsOk());
  const auto bounded = [](const Tensors& in) {
    return Power(in[0], Constant(4), {.maximum_iterations = 7});
  };
  EXPECT_THAT(CheckGradients(bounded, {Scrambled({3}, 0.5, 1.5)}), IsOk());
}

// h = tanh(h * w + x) for each row of xs, as a recurrent network.
Tensor Recurrent(const Tensors& in) {
  const Tensor &xs = in[0], &w = in[1], &h = in[2];
  const Tensors last = WhileLoop(
      [&](const Tensors& v) { return Less(v[0], static_cast<int>(xs.dim(0))); },
      [&](const Tensors& v) {
        const Tensor next = Tanh(Add(MatMul(v[1], w), Gather(xs, v[0])));
        return Tensors{Add(v[0], 1), next, TensorArray(v[2]).Write(v[0], ReduceSum(next, {1}))};
      },
      {Constant(0), h, TensorArray({h.dtype(), {h.dim(0)}}, xs.dim(0))});
  return Add(ReduceSum(last[1], {1}), ReduceSum(last[2], {0}));
}

TEST_F(WhileLoopTest, GradientsFlowThroughCapturesCarriedValuesAndTensorArrays) {
  EXPECT_THAT(CheckGradients(Recurrent, {Scrambled({4, 2, 3}, -1, 1), Scrambled({3, 3}, -1, 0.9),
                                         Scrambled({2, 3}, -0.5, 0.6)}),
              IsOk());
}

TEST_F(WhileLoopTest, ALoopInsideALoopHasGradients) {
  const auto fn = [](const Tensors& in) {
    return WhileLoop([](const Tensors& v) { return Less(v[0], 3); },
                     [&](const Tensors& v) {
                       const Tensor inner =
                           Power(Multiply(v[1], in[0]), Add(v[0], 1), {.maximum_iterations = 4});
                       return Tensors{Add(v[0], 1), Sin(inner)};
                     },
                     {Constant(0), in[1]})[1];
  };
  EXPECT_THAT(CheckGradients(fn, {Scrambled({2}, 0.5, 1.5), Scrambled({2}, 0.6, 1.2)}), IsOk());
}

TEST_F(WhileLoopTest, AnInnerLoopWithoutABoundIsComputedAgainForTheGradient) {
  const auto fn = [](const Tensors& in) {
    return WhileLoop([](const Tensors& v) { return Less(v[0], 3); },
                     [&](const Tensors& v) {
                       const Tensor inner = Power(Multiply(v[1], in[0]), Add(v[0], 1));
                       return Tensors{Add(v[0], 1), Sin(inner)};
                     },
                     {Constant(0), in[1]})[1];
  };
  EXPECT_THAT(CheckGradients(fn, {Scrambled({2}, 0.5, 1.5), Scrambled({2}, 0.6, 1.2)}), IsOk());
}

Tensor Twos(const Shape& shape, DType) { return Fill(shape, Constant(2.0f), "twos"); }

TEST_F(WhileLoopTest, VariablesAreReadAndCreatedInside) {
  const Tensors last = WhileLoop([](const Tensors& v) { return Less(v[0], 3); },
                                 [](const Tensors& v) {
                                   const VariableScope scope("cell");
                                   const Variable w = GetVariable("w", {2}, {.initializer = Twos});
                                   return Tensors{Add(v[0], 1), Multiply(v[1], w)};
                                 },
                                 {Constant(0), Constant({1.0f, 3.0f})});
  EXPECT_EQ(graph_.status().ToString(), "OK");
  EXPECT_THAT(Doubles(last[1]), ElementsAre(8, 24));
  const std::optional<Variable> w = graph_.FindVariable("cell/w");
  ASSERT_TRUE(w.has_value());
  // d(w^3 x)/dw = 3 w^2 x
  EXPECT_THAT(Doubles(Gradients({last[1]}, {w->read()})[0]), ElementsAre(12, 36));
}

TEST_F(WhileLoopTest, RandomNumbersDifferFromTripToTrip) {
  const Tensors last =
      WhileLoop([](const Tensors& v) { return Less(v[0], 3); },
                [](const Tensors& v) {
                  return Tensors{Add(v[0], 1), TensorArray(v[1]).Write(v[0], RandomUniform({}))};
                },
                {Constant(0), TensorArray({DType::kFloat32, {}}, 3)});
  const std::vector<double> drawn = Doubles(last[1]);
  ASSERT_EQ(drawn.size(), 3u);
  EXPECT_NE(drawn[0], drawn[1]);
  EXPECT_NE(drawn[1], drawn[2]);
}

TEST_F(WhileLoopTest, NamesTheLoopVariableWhoseTypeChanges) {
  EXPECT_THAT(ErrorOf([] {
                WhileLoop([](const Tensors& v) { return Less(v[0], 3); },
                          [](const Tensors& v) {
                            return Tensors{Add(v[0], 1), Constant({1.0f, 2.0f, 3.0f})};
                          },
                          {Constant(0), Constant({1.0f, 2.0f})});
              }),
              HasSubstr("loop variable 1 ('Const_1:0') is f32 [2] before the loop, and the "
                        "body returns f32 [3]"));
  EXPECT_THAT(ErrorOf([] {
                WhileLoop([](const Tensors& v) { return v[0]; }, [](const Tensors& v) { return v; },
                          {Constant(0)});
              }),
              HasSubstr("the condition of a loop must be bool [], not i32 []"));
  EXPECT_THAT(ErrorOf([] {
                WhileLoop([](const Tensors& v) { return Less(v[0], 1); },
                          [](const Tensors& v) {
                            return Tensors{v[0], v[0]};
                          },
                          {Constant(0)});
              }),
              HasSubstr("returns 2 tensors for 1 loop variables"));
}

TEST_F(WhileLoopTest, RefusesATensorOfABodyOutside) {
  EXPECT_THAT(ErrorOf([] {
                Tensor leaked;
                WhileLoop([](const Tensors& v) { return Less(v[0], 3); },
                          [&](const Tensors& v) { return Tensors{leaked = Add(v[0], 1)}; },
                          {Constant(0)});
                Add(leaked, 1);
              }),
              HasSubstr("was made in the body of a loop or a branch; return it"));
}

TEST_F(WhileLoopTest, RefusesUpdatesInABody) {
  EXPECT_THAT(ErrorOf([] {
                const Variable w = GetVariable("w", {2}, {.initializer = Twos});
                WhileLoop([](const Tensors& v) { return Less(v[0], 3); },
                          [&](const Tensors& v) {
                            Graph::Current().update_ops().push_back(Assign(w, Add(w, 1)));
                            return Tensors{Add(v[0], 1)};
                          },
                          {Constant(0)});
              }),
              HasSubstr("updates variable 'w'; make its value a loop variable"));
}

TEST_F(WhileLoopTest, SaysWhereLossesAndSummariesBelong) {
  const auto error_of = [](const std::function<void(const Tensor&)>& add) {
    return ErrorOf([&add] {
      WhileLoop([](const Tensors& v) { return Less(v[0], 3.0f); },
                [&](const Tensors& v) {
                  add(v[0]);
                  return Tensors{Add(v[0], 1.0f)};
                },
                {Constant(0.0f)});
    });
  };
  EXPECT_THAT(error_of([](const Tensor& x) { Graph::Current().losses().push_back(x); }),
              HasSubstr("in 'body': it adds a loss to the graph; return it, and add it outside"));
  EXPECT_THAT(error_of([](const Tensor& x) { summary::Scalar("x", x); }),
              HasSubstr("in 'body': it writes a summary; return the value, and write it outside"));
}

TEST_F(WhileLoopTest, RefusesTheGradientOfAGradient) {
  EXPECT_THAT(ErrorOf([] {
                const Tensor x = Constant({1.0});
                const Tensor y = Power(x, Constant(3));
                const Tensor dy = Gradients({y}, {x})[0];
                Gradients({dy}, {x});
              }),
              HasSubstr("the gradient of the gradient of loop"));
}

}  // namespace
}  // namespace estimator
