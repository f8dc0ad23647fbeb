// Three steps of every optimizer from w = [1, -2, 3] with the gradient 2 c w, c = [0.5, -1, 2],
// against TF 2.15 tf.compat.v1.train, and the names of its variables.
#include <string>
#include <vector>

#include "estimator/nn/testing/step.h"
#include "estimator/nn/train/adadelta.h"
#include "estimator/nn/train/adagrad.h"
#include "estimator/nn/train/adam.h"
#include "estimator/nn/train/adam_weight_decay.h"
#include "estimator/nn/train/ftrl.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/nn/train/momentum.h"
#include "estimator/nn/train/rms_prop.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::ExpectNear;

// Relative to numbers of about 1 in f32, over three steps.
constexpr double kTolerance = 3e-6;

void ExpectAfterThreeSteps(train::Optimizer&& optimizer, const std::vector<double>& w,
                           const std::vector<std::string>& state) {
  Graph graph;
  const GraphScope scope(graph);
  const Variable variable = GetVariable("w", {3}, {.initializer = [](const Shape&, DType) {
                                          return Constant({1.f, -2.f, 3.f});
                                        }});
  GetOrCreateGlobalStep();
  const Operation step =
      optimizer.Minimize(ReduceSum(Constant({.5f, -1.f, 2.f}) * Square(variable)));
  testing::Stepper stepper(graph);
  stepper.Run(step, {}, 3);
  ExpectNear(stepper.Value("w"), w, kTolerance);
  ExpectNear(stepper.Value("global_step"), {3});
  std::vector<std::string> names = testing::VariableNames(graph);
  names.erase(names.begin(), names.begin() + 2);
  EXPECT_EQ(names, state);
}

TEST(GradientDescent, UnderExponentialDecay) {
  ExpectAfterThreeSteps(train::GradientDescent(train::ExponentialDecay(
                            {.initial = 0.1, .decay_steps = 1, .decay_rate = 0.5})),
                        {0.83362496, -2.772, 1.296}, {});
}

TEST(Momentum, PlainAndNesterov) {
  ExpectAfterThreeSteps(train::Momentum(0.1, 0.9), {0.48599997, -4.644, -1.62}, {"w/Momentum"});
  ExpectAfterThreeSteps(train::Momentum(0.1, 0.9, {.use_nesterov = true}),
                        {0.327321, -6.441984, -1.2998879}, {"w/Momentum"});
}

TEST(Adam, CorrectsItsBias) {
  ExpectAfterThreeSteps(train::Adam(0.1), {0.7015874, -2.3003511, 2.7003827},
                        {"beta1_power", "beta2_power", "w/Adam", "w/Adam_1"});
}

TEST(RMSProp, PlainAndCentered) {
  ExpectAfterThreeSteps(train::RMSProp(0.1, {.momentum = 0.9}), {0.48196572, -3.306888, 1.6029762},
                        {"w/RMSProp", "w/RMSProp_1"});
  ExpectAfterThreeSteps(
      train::RMSProp(0.1, {.decay = 0.8, .momentum = 0.5, .epsilon = 1e-3, .centered = true}),
      {0.58584356, -2.8947692, 2.0945768}, {"w/RMSProp", "w/RMSProp_1", "w/RMSProp_2"});
}

TEST(Adagrad, StartsFromItsAccumulator) {
  ExpectAfterThreeSteps(train::Adagrad(0.1), {0.7875128, -2.2318833, 2.7744126}, {"w/Adagrad"});
}

TEST(Adadelta, NeedsNoRate) {
  ExpectAfterThreeSteps(train::Adadelta(1.0), {0.99864346, -2.001357, 2.9986432},
                        {"w/Adadelta", "w/Adadelta_1"});
}

TEST(Ftrl, WithBothPenalties) {
  ExpectAfterThreeSteps(
      train::Ftrl(0.1, {.l1_regularization_strength = 0.01, .l2_regularization_strength = 0.02}),
      {0.50908345, -2.0677426, 2.6959763}, {"w/Ftrl", "w/Ftrl_1"});
}

// By hand in NumPy, float64: the formula of google-research/bert.
TEST(AdamWeightDecay, DecaysWithoutBiasCorrection) {
  ExpectAfterThreeSteps(train::AdamWeightDecay(0.01, {.weight_decay_rate = 0.1}),
                        {0.87369481, -2.11759022, 2.86755707}, {"w/adam_m", "w/adam_v"});
}

TEST(AdamWeightDecay, ExcludesByRegularExpression) {
  EXPECT_TRUE(train::MatchesAny("bert/encoder/LayerNorm/gamma", {"LayerNorm", "bias"}));
  EXPECT_TRUE(train::MatchesAny("dense/bias", {"LayerNorm", "bias$"}));
  EXPECT_FALSE(train::MatchesAny("dense/kernel", {"LayerNorm", "bias"}));
  Graph graph;
  const GraphScope scope(graph);
  EXPECT_FALSE(train::MatchesAny("dense/kernel", {"("}));
  testing::ExpectError(graph, {"'('", "regular expression"});
}

}  // namespace
}  // namespace estimator
