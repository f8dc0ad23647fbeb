#include "estimator/nn/train/stochastic_weight_averaging.h"

#include <gtest/gtest.h>

#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/testing/step.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"

namespace estimator::train {
namespace {

class StochasticWeightAveragingTest : public GraphTest {
 protected:
  // A step adds 1 to w, which starts at 1.
  Operation Minimize(const StochasticWeightAveragingOptions& options) {
    const Variable w =
        GetVariable("w", {}, {.initializer = [](const Shape&, DType) { return Constant(1.f); }});
    const Operation step = GradientDescent(1.0).Minimize(w * -1.0f);
    return Group({step, StochasticWeightAveraging(options).Apply(step)});
  }
};

TEST_F(StochasticWeightAveragingTest, IsTheMeanOfTheWeightsAtSomeSteps) {
  const Operation step = Minimize({.start_averaging = 2, .average_period = 2});
  testing::Stepper stepper(graph_);
  // Weights 2, 3, 4, 5, 6, 7: of these 3, 5 and 7 are averaged.
  for (const double expected : {2, 3, 3, 4, 4, 5}) {
    stepper.Run(step);
    testing::ExpectNear(stepper.Value("w/average"), {expected});
  }
  testing::ExpectNear(stepper.Value("w"), {7});
  EXPECT_EQ(graph_.ModelVariables().size(), 1u) << "the average belongs to the training";
}

TEST_F(StochasticWeightAveragingTest, FromTheStartInEveryStep) {
  const Operation step = Minimize({.start_averaging = 0, .average_period = 1});
  testing::Stepper stepper(graph_);
  // The initial value is the first one of the mean.
  for (const double expected : {1.5, 2.0, 2.5}) {
    stepper.Run(step);
    testing::ExpectNear(stepper.Value("w/average"), {expected});
  }
}

TEST_F(StochasticWeightAveragingTest, NumbersOutOfRangeAreRefused) {
  (void)Minimize({.start_averaging = 1, .average_period = 0});
  testing::ExpectError(graph_, {"StochasticWeightAveraging", "average_period is 0"});
}

}  // namespace
}  // namespace estimator::train
