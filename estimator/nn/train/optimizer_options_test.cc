// Options out of their range are refused, all of them in one message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "estimator/nn/testing/three_steps.h"
#include "estimator/nn/train/adabelief.h"
#include "estimator/nn/train/adadelta.h"
#include "estimator/nn/train/adafactor.h"
#include "estimator/nn/train/adagrad.h"
#include "estimator/nn/train/adam.h"
#include "estimator/nn/train/adam_weight_decay.h"
#include "estimator/nn/train/ftrl.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/nn/train/lamb.h"
#include "estimator/nn/train/lars.h"
#include "estimator/nn/train/momentum.h"
#include "estimator/nn/train/option_checks.h"
#include "estimator/nn/train/proximal_adagrad.h"
#include "estimator/nn/train/rms_prop.h"

namespace estimator::train {
namespace {

using ::testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string Refusal(Optimizer&& optimizer) {
  const absl::Status status = estimator::testing::MinimizeStatus(std::move(optimizer));
  return status.code() == absl::StatusCode::kInvalidArgument ? std::string(status.message())
                                                             : status.ToString();
}

TEST(OptimizerOptionsTest, AllThatIsWrongStandsInOneMessage) {
  EXPECT_THAT(Refusal(Ftrl(0.1, {.learning_rate_power = 0.5, .beta = -1})),
              HasSubstr("Ftrl: learning_rate_power is 0.5, but must be at most 0; "
                        "beta is -1, but must be at least 0"));
}

TEST(OptimizerOptionsTest, EveryOptimizerChecksItsOwn) {
  EXPECT_THAT(Refusal(GradientDescent(kNaN)), HasSubstr("learning_rate is nan"));
  EXPECT_THAT(Refusal(GradientDescent(0.1, {.name = ""})), HasSubstr("name must not be empty"));
  EXPECT_THAT(Refusal(Momentum(0.1, -0.9)), HasSubstr("momentum is -0.9"));
  EXPECT_THAT(Refusal(Adam(0.1, {.beta1 = 1})), HasSubstr("beta1 is 1"));
  EXPECT_THAT(Refusal(RMSProp(0.1, {.decay = 1.5})), HasSubstr("decay is 1.5"));
  EXPECT_THAT(Refusal(Adagrad(0.1, {.initial_accumulator_value = 0})),
              HasSubstr("initial_accumulator_value is 0, but must be above 0"));
  EXPECT_THAT(Refusal(Adadelta(0.1, {.rho = -0.1})), HasSubstr("rho is -0.1"));
  EXPECT_THAT(Refusal(ProximalAdagrad(0.1, {.l1_regularization_strength = -1})),
              HasSubstr("l1_regularization_strength is -1"));
  EXPECT_THAT(Refusal(AdamWeightDecay(0.1, {.weight_decay_rate = -0.1})),
              HasSubstr("weight_decay_rate is -0.1"));
  EXPECT_THAT(Refusal(AdamWeightDecay(0.1, {.exclude_from_weight_decay = {"("}})),
              HasSubstr("exclude_from_weight_decay: '('"));
  EXPECT_THAT(Refusal(Adafactor({.clipping_threshold = 0.0})),
              HasSubstr("clipping_threshold is 0, but must be above 0"));
  EXPECT_THAT(Refusal(LARS(0.1, {.eeta = 0})), HasSubstr("eeta is 0"));
  EXPECT_THAT(Refusal(LAMB(0.1, {.beta_2 = kNaN})), HasSubstr("beta_2 is nan"));
  EXPECT_THAT(Refusal(LAMB(0.1, {.exclude_from_layer_adaptation = {"["}})),
              HasSubstr("exclude_from_layer_adaptation: '['"));
  EXPECT_THAT(Refusal(AdaBelief(0.1, {.epsilon = -1})), HasSubstr("epsilon is -1"));
}

TEST(OptimizerOptionsTest, AnExpressionThatCannotBeMatchedIsAnError) {
  const std::vector<std::string> exclude = {"(?R)|b"};  // calls itself without end
  EXPECT_THAT(Refusal(AdamWeightDecay(
                  0.1, {.weight_decay_rate = 0.1, .exclude_from_weight_decay = exclude})),
              HasSubstr("exclude_from_weight_decay: '(?R)|b' cannot be matched"));
  EXPECT_THAT(Refusal(LAMB(0.1, {.exclude_from_layer_adaptation = exclude})),
              HasSubstr("exclude_from_layer_adaptation: '(?R)|b' cannot be matched"));
}

TEST(OptimizerOptionsTest, WhatIsInRangePasses) {
  EXPECT_TRUE(OptionChecks("o")
                  .Positive("a", 1e-9)
                  .NotNegative("b", 0)
                  .NotPositive("c", 0)
                  .Decay("d", 0)
                  .status()
                  .ok());
}

}  // namespace
}  // namespace estimator::train
