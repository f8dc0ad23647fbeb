#include "estimator/nn/train/exponential_moving_average.h"

#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/layers/normalization.h"
#include "estimator/nn/testing/step.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::ExpectNear;
using testing::Stepper;

class ExponentialMovingAverage : public GraphTest {
 protected:
  Variable Weight() {
    return GetVariable("w", {2}, {.initializer = [](const Shape&, DType) {
                         return Constant({1.f, 2.f});
                       }});
  }
  Stepper stepper_{graph_};
};

// TF 2.15: three times w += [1, -1], then apply; decay 0.9, and 0.9 with num_updates = 3.
TEST_F(ExponentialMovingAverage, FollowsTheValuesAfterTheStep) {
  const Variable w = Weight();
  const Operation step = AssignAdd(w, Constant({1.f, -1.f}));
  train::ExponentialMovingAverage plain(0.9), warm(0.9, {.num_updates = Constant(3), .name = "E2"});
  stepper_.Run(Group({step, plain.Apply({w}, step), warm.Apply({w}, step)}), {}, 3);
  ExpectNear(stepper_.Value("w/ExponentialMovingAverage"), {1.5610001, 1.4389999});
  ExpectNear(stepper_.Value("w/E2"), {3.5685024, -0.5685026});
  EXPECT_EQ(plain.Average(w).name(), "w/ExponentialMovingAverage");
  EXPECT_FALSE(plain.Average(w).trainable());
}

TEST_F(ExponentialMovingAverage, FollowsAnOptimizersUpdate) {
  const Variable w = Weight();
  const Operation step = train::GradientDescent(1).Minimize(ReduceSum(w));
  train::ExponentialMovingAverage ema(0.5);
  stepper_.Run(Group({step, ema.Apply({}, step)}));
  ExpectNear(stepper_.Value("w"), {0, 1});
  ExpectNear(stepper_.Value("w/ExponentialMovingAverage"), {0.5, 1.5});
}

// TF 2.15, resource variables: w = 1 and a counter, both += 1, then apply with num_updates = the
// counter: the decay of the first step is 2 / 11, not 1 / 10.
TEST_F(ExponentialMovingAverage, AVariableOfUpdatesIsReadAfterTheStep) {
  const Variable w =
      GetVariable("v", {}, {.initializer = [](const Shape&, DType) { return Constant(1.f); }});
  const Variable global_step = GetOrCreateGlobalStep();
  const Operation step =
      Group({AssignAdd(w, Constant(1.f)), AssignAdd(global_step, Constant<int64_t>(1))});
  train::ExponentialMovingAverage ema(0.99, {.num_updates = global_step});
  stepper_.Run(Group({step, ema.Apply({w}, step)}), {}, 3);
  ExpectNear(stepper_.Value("v/ExponentialMovingAverage"), {3.6013987});
}

TEST_F(ExponentialMovingAverage, FollowsBatchNormsMovingAverages) {
  layers::BatchNormalization(Constant({2, 1}, {1.f, 3.f}), {.momentum = 0.5, .training = true});
  const Variable mean = *graph_.FindVariable("batch_normalization/moving_mean");
  train::ExponentialMovingAverage ema(0.5);
  stepper_.Run(ema.Apply({mean}));
  ExpectNear(stepper_.Value("batch_normalization/moving_mean/ExponentialMovingAverage"), {0.5});
}

TEST_F(ExponentialMovingAverage, VariablesToRestoreReadsTheAverages) {
  const Variable w = Weight();
  GetOrCreateGlobalStep();
  const auto restore = train::ExponentialMovingAverage(0.9).VariablesToRestore();
  ASSERT_EQ(restore.size(), 2u);
  EXPECT_EQ(restore.at("w/ExponentialMovingAverage").name(), w.name());
  EXPECT_EQ(restore.count("global_step"), 1u);
}

// TF 2.15: without a list, all variables that have an average, trainable or not.
TEST_F(ExponentialMovingAverage, VariablesToRestoreKnowsWhatWasAveraged) {
  layers::BatchNormalization(Constant({2, 1}, {1.f, 3.f}), {.training = true});
  const Variable mean = *graph_.FindVariable("batch_normalization/moving_mean");
  train::ExponentialMovingAverage ema(0.5);
  (void)ema.Apply({mean});
  const auto restore = ema.VariablesToRestore();
  EXPECT_EQ(restore.at("batch_normalization/moving_mean/ExponentialMovingAverage").name(),
            mean.name());
  EXPECT_EQ(restore.count("batch_normalization/moving_mean"), 0u);
  EXPECT_EQ(restore.count("batch_normalization/moving_variance"), 1u);
}

// It dereferenced nothing where evaluation lacks a variable of training, such as an auxiliary head.
TEST_F(ExponentialMovingAverage, VariablesToRestoreLeavesOutWhatAnotherModesGraphHas) {
  train::ExponentialMovingAverage ema(0.5);
  (void)ema.Apply({Weight(), GetVariable("auxiliary", {3})});
  Graph evaluation;
  const GraphScope scope(evaluation);
  const Variable w = Weight();
  const auto restore = ema.VariablesToRestore();
  ASSERT_EQ(restore.size(), 1u);
  EXPECT_EQ(restore.at("w/ExponentialMovingAverage").name(), w.name());
  EXPECT_EQ(restore.at("w/ExponentialMovingAverage").graph(), &evaluation);
}

}  // namespace
}  // namespace estimator
