#include "estimator/nn/train/rate_by_name.h"

#include <gtest/gtest.h>

#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/testing/step.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"

namespace estimator::train {
namespace {

class RateByNameTest : public GraphTest {
 protected:
  // The step down the sum of three weights of 1.
  Operation Minimize(const Schedule& rate) {
    Tensor sum;
    for (const char* name : {"net/embeddings/w", "net/layer_0/w", "net/layer_0/b"}) {
      const Variable v =
          GetVariable(name, {}, {.initializer = [](const Shape&, DType) { return Constant(1.f); }});
      sum = sum.valid() ? sum + v : v;
    }
    return GradientDescent(rate).Minimize(sum);
  }
};

TEST_F(RateByNameTest, EachVariableMovesAtItsRateAndARateMayDecay) {
  const Operation step = Minimize(RateByName(
      {{"/embeddings/", 0.1},
       {"layer_0/", ExponentialDecay({.initial = 0.4, .decay_steps = 1, .decay_rate = 0.5})}}));
  testing::Stepper stepper(graph_);
  stepper.Run(step, {}, 2);
  testing::ExpectNear(stepper.Value("net/embeddings/w"), {0.8});
  testing::ExpectNear(stepper.Value("net/layer_0/w"), {0.4});
  testing::ExpectNear(stepper.Value("net/layer_0/b"), {0.4});
}

TEST_F(RateByNameTest, VariablesOfNoneOrOfTwoRatesAreAllNamed) {
  (void)Minimize(RateByName({{"layer_0/w", 0.1}, {"layer_0/", 0.2}}));
  testing::ExpectError(graph_, {"'net/embeddings/w' contains none",
                                "'net/layer_0/w' contains 'layer_0/w', 'layer_0/'", "exactly one"});
}

TEST_F(RateByNameTest, ThereIsNoSingleRate) {
  RateByName({{"a", 0.1}}).Build();
  testing::ExpectError(graph_, {"RateByName", "no single one"});
}

}  // namespace
}  // namespace estimator::train
