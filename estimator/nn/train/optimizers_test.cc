// Three steps of every optimizer from w = [1, -2, 3] with the gradient 2 c w, c = [0.5, -1, 2],
// against TF 2.15 tf.compat.v1.train where nothing else is said, and the names of its variables.
#include "estimator/array/array.h"
#include "estimator/nn/testing/three_steps.h"
#include "estimator/nn/train/adabelief.h"
#include "estimator/nn/train/adadelta.h"
#include "estimator/nn/train/adagrad.h"
#include "estimator/nn/train/adam.h"
#include "estimator/nn/train/adam_weight_decay.h"
#include "estimator/nn/train/ftrl.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/nn/train/lamb.h"
#include "estimator/nn/train/lars.h"
#include "estimator/nn/train/momentum.h"
#include "estimator/nn/train/proximal_adagrad.h"
#include "estimator/nn/train/rms_prop.h"
#include "estimator/nn/train/schedule.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::ExpectAfterThreeSteps;

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

TEST(Momentum, MayComeFromASchedule) {
  // 0.9 for two steps, then none.
  ExpectAfterThreeSteps(
      train::Momentum(0.1, train::PiecewiseConstant({.boundaries = {1}, .values = {0.9, 0.0}})),
      {0.648, -3.888, 0}, {"w/Momentum"});
}

TEST(Optimizers, TakeTensorFlowsNameArgument) {
  ExpectAfterThreeSteps(train::Momentum(0.1, 0.9, {.name = "Mine"}), {0.48599997, -4.644, -1.62},
                        {"w/Mine"});
}

// The rest by hand in NumPy, float64.
TEST(Ftrl, WithShrinkageAndBeta) {
  const train::FtrlOptions options = {.l1_regularization_strength = 0.01,
                                      .l2_regularization_strength = 0.02,
                                      .l2_shrinkage_regularization_strength = 0.03,
                                      .beta = 0.5};
  ExpectAfterThreeSteps(train::Ftrl(0.1, options), {0.352994363, -1.830361596, 2.585803051},
                        {"w/Ftrl", "w/Ftrl_1"});
}

TEST(Ftrl, NamesItsSlotsWhereAsked) {
  ExpectAfterThreeSteps(train::Ftrl(0.1, {.l1_regularization_strength = 0.01,
                                          .l2_regularization_strength = 0.02,
                                          .accum_name = "squares",
                                          .linear_name = "sums"}),
                        {0.50908345, -2.0677426, 2.6959763}, {"w/squares", "w/sums"});
}

TEST(ProximalAdagrad, WithBothPenalties) {
  ExpectAfterThreeSteps(train::ProximalAdagrad(0.1, {.l1_regularization_strength = 0.05,
                                                     .l2_regularization_strength = 0.1}),
                        {0.758153342, -2.21683244, 2.768049813}, {"w/ProximalAdagrad"});
}

// The formula of google-research/bert.
TEST(AdamWeightDecay, DecaysWithoutBiasCorrection) {
  ExpectAfterThreeSteps(train::AdamWeightDecay(0.01, {.weight_decay_rate = 0.1}),
                        {0.87369481, -2.11759022, 2.86755707}, {"w/adam_m", "w/adam_v"});
}

TEST(AdamWeightDecay, LeavesOutWhatAPatternMatches) {
  ExpectAfterThreeSteps(
      train::AdamWeightDecay(
          0.1, {.weight_decay_rate = 0.01, .exclude_from_weight_decay = {"LayerNorm", "^w$"}}),
      {-0.162114315, -3.237996108, 1.773665977}, {"w/adam_m", "w/adam_v"});
}

TEST(LAMB, ScalesTheStepToTheWeight) {
  ExpectAfterThreeSteps(train::LAMB(0.1, {.weight_decay_rate = 0.01}),
                        {0.373973439, -2.633897911, 2.361230791}, {"w/adam_m", "w/adam_v"});
}

TEST(LAMB, LeavesOutWhatPatternsMatch) {
  // Without a list of its own, layer adaptation takes that of the decay.
  ExpectAfterThreeSteps(
      train::LAMB(0.1, {.weight_decay_rate = 0.01, .exclude_from_weight_decay = {"^w"}}),
      {-0.162114315, -3.237996108, 1.773665977}, {"w/adam_m", "w/adam_v"});
  ExpectAfterThreeSteps(train::LAMB(0.1, {.weight_decay_rate = 0.01,
                                          .exclude_from_weight_decay = {"bias"},
                                          .exclude_from_layer_adaptation = {"^w"}}),
                        {-0.163670176, -3.23096165, 1.765852109}, {"w/adam_m", "w/adam_v"});
}

TEST(LAMB, DoesNotScaleAWeightThatIsZero) {
  // |w| is 0 in the first step: rate * 0 would leave it there for ever; and |update| is 0 with it.
  const testing::Parabola zero = {.w = Array::Of<float>({2}, {0.f, 0.f}),
                                  .slope = Array::Of<float>({2}, {1.f, 1.f})};
  ExpectAfterThreeSteps(train::LAMB(0.1), {0, 0}, {"w/adam_m", "w/adam_v"}, zero);
}

TEST(LARS, PlainAndNesterov) {
  const train::LARSOptions options = {.weight_decay = 0.01, .eeta = 0.1};
  ExpectAfterThreeSteps(train::LARS(0.1, options), {0.983326818, -2.06620264, 2.802914461},
                        {"w/LARSOptimizer"});
  train::LARSOptions nesterov = options;
  nesterov.use_nesterov = true;
  ExpectAfterThreeSteps(train::LARS(0.1, nesterov), {0.976055102, -2.095818717, 2.719174015},
                        {"w/LARSOptimizer"});
}

TEST(LARS, TakesPlainMomentumForTheSkipList) {
  ExpectAfterThreeSteps(train::LARS(0.1, {.skip_list = {"bias", "w"}}), {0.48599997, -4.644, -1.62},
                        {"w/LARSOptimizer"});
}

TEST(LARS, DoesNotDivideZeroByZero) {
  const testing::Parabola zero = {.w = Array::Of<float>({2}, {0.f, 0.f}),
                                  .slope = Array::Of<float>({2}, {1.f, 1.f})};
  ExpectAfterThreeSteps(train::LARS(0.1), {0, 0}, {"w/LARSOptimizer"}, zero);
}

// With the powers of beta in f32, as they are kept: 1 - 0.999 is off by 5e-5 there.
TEST(AdaBelief, CorrectsItsBiasAndDecays) {
  ExpectAfterThreeSteps(
      train::AdaBelief(0.1, {.epsilon = 1e-6, .weight_decay = 0.01, .rectify = false}),
      {0.649953685, -2.344615695, 2.641528121},
      {"beta1_power", "beta2_power", "step", "w/AdaBeliefOptimizer", "w/AdaBeliefOptimizer_1"});
}

}  // namespace
}  // namespace estimator
