#include "estimator/nn/train/adabelief.h"

#include <string>
#include <vector>

#include "estimator/graph/graph.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/testing/step.h"
#include "estimator/nn/testing/three_steps.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using train::AdaBelief;
using train::AdaBeliefOptions;

struct Case {
  std::string name;
  AdaBeliefOptions options;
  std::vector<double> weights;
};

// w after 12 steps on sum(slope * w^2).
Array AfterTwelveSteps(AdaBelief optimizer, const testing::Parabola& parabola = {}) {
  Graph graph;
  const GraphScope scope(graph);
  const Variable w = GetVariable(
      "w", {3}, {.initializer = [&](const Shape&, DType) { return Constant(parabola.w); }});
  const Operation step = optimizer.Minimize(ReduceSum(Constant(parabola.slope) * Square(w)));
  testing::Stepper stepper(graph);
  stepper.Run(step, {}, 12);
  return stepper.Value("w");
}

// The weights are printed by testdata/adabelief/generate.py.
TEST(AdaBelief, IsThatOfThePythonPackageAfterTwelveSteps) {
  const std::vector<Case> cases = {
      {"defaults", {.beta_2 = 0.9}, {0.506499617, -3.37036263, 0.43308818}},
      {"amsgrad and weight decay",
       {.beta_2 = 0.9, .weight_decay = 0.1, .amsgrad = true},
       {0.499333421, -3.19437416, 0.428093419}},
      {"not rectified",
       {.beta_2 = 0.9, .rectify = false, .amsgrad = true},
       {0.229446903, -2.89957886, 2.1467552}},
      {"threshold",
       {.beta_2 = 0.9, .sma_threshold = 6.5},
       {0.467004529, -3.85899878, -0.0653170098}},
      {"warm-up",
       {.beta_2 = 0.9, .total_steps = 10, .warmup_proportion = 0.3, .min_lr = 0.01},
       {0.742701607, -2.86259591, 1.02318645}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    testing::ExpectNear(AfterTwelveSteps(AdaBelief(0.05, c.options)), c.weights, 1e-5);
  }
}

TEST(AdaBelief, HasThePackagesDefaults) {
  const AdaBeliefOptions options;
  EXPECT_EQ(options.epsilon, 1e-14);
  EXPECT_EQ(options.sma_threshold, 5);
  EXPECT_EQ(options.warmup_proportion, 0.1);
  EXPECT_TRUE(options.rectify);
  EXPECT_TRUE(options.weight_decouple);
  EXPECT_FALSE(options.amsgrad);
  // The first steps are momentum: the rectification has not begun.
  testing::ExpectAfterThreeSteps(
      AdaBelief(0.1), {0.715770049, -3.33082154, 0.128995899},
      {"beta1_power", "beta2_power", "step", "w/AdaBeliefOptimizer", "w/AdaBeliefOptimizer_1"});
}

// With the gradient g + weight_decay * w, which is the one of another slope.
TEST(AdaBelief, DecayThatIsNotDecoupledIsPartOfTheGradient) {
  const testing::Parabola steeper = {.slope = Array::Of<float>({3}, {.55f, -.95f, 2.05f})};
  const Array decayed =
      AfterTwelveSteps(AdaBelief(0.05, {.weight_decay = 0.1, .weight_decouple = false}));
  testing::ExpectNear(decayed, testing::Doubles(AfterTwelveSteps(AdaBelief(0.05), steeper)), 1e-5);
}

TEST(AdaBelief, AmsgradHasAThirdSlot) {
  testing::ExpectAfterThreeSteps(AdaBelief(0.1, {.amsgrad = true}),
                                 {0.715770049, -3.33082154, 0.128995899},
                                 {"beta1_power", "beta2_power", "step", "w/AdaBeliefOptimizer",
                                  "w/AdaBeliefOptimizer_1", "w/AdaBeliefOptimizer_2"});
}

TEST(AdaBelief, RefusesOptionsOutOfRange) {
  EXPECT_THAT(testing::MinimizeStatus(AdaBelief(0.1, {.sma_threshold = 0})).message(),
              ::testing::HasSubstr("sma_threshold is 0"));
  EXPECT_THAT(testing::MinimizeStatus(AdaBelief(0.1, {.total_steps = -1})).message(),
              ::testing::HasSubstr("total_steps is -1"));
}

}  // namespace
}  // namespace estimator
