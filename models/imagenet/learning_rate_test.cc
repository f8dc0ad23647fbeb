#include "models/imagenet/learning_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/ops/testing/eval.h"

namespace estimator::imagenet {
namespace {

void ExpectRates(const Schedule& schedule, const std::map<float, double>& expected) {
  Graph graph;
  const GraphScope scope(graph);
  for (const auto& [step, rate] : expected) {
    const absl::StatusOr<Array> actual = testing::Eval(schedule.At(Constant(step)));
    EST_ASSERT_OK(actual);
    EXPECT_NEAR(actual->scalar<float>(), rate, 1e-6 + 1e-5 * rate) << "at step " << step;
  }
}

TEST(LearningRateTest, RisesForFiveEpochsAndFallsAt30And60And80) {
  // 1251.14 steps an epoch; the rate after the warm-up is 0.1 * 1024 / 256.
  ExpectRates(StepLearningRate({}), {{0, 0},
                                     {1, 0.4 / 5 / 1251.139648},
                                     {3128, 0.4 * 3128 / 5 / 1251.139648},
                                     {6255, 0.4 * 6255 / 5 / 1251.139648},
                                     {6256, 0.4},
                                     {37534, 0.4},
                                     {37535, 0.04},
                                     {75068, 0.04},
                                     {75069, 0.004},
                                     {100091, 0.004},
                                     {100092, 0.0004},
                                     {112589, 0.0004}});
}

TEST(LearningRateTest, PhasesOfOtherLengthsAreWholeEpochsAsInTheOriginal) {
  // 100 steps an epoch and 50 epochs: floor(2.8), floor(16.7), floor(33.3) and floor(44.4).
  const auto phases =
      RatePhases({.train_batch_size = 10, .num_train_images = 1000, .train_steps = 5000});
  ASSERT_EQ(phases.size(), 4u);
  EXPECT_EQ(phases[0].start_epoch, 2);
  EXPECT_EQ(phases[1].start_epoch, 16);
  EXPECT_EQ(phases[2].start_epoch, 33);
  EXPECT_EQ(phases[3].start_epoch, 44);
  EXPECT_EQ(phases[0].multiplier, 1);
  EXPECT_EQ(phases[3].multiplier, 0.001);
}

// A defect of the original: a run of one epoch has 0.001 of the rate from its first step on.
TEST(LearningRateTest, AShortRunHasAllPhases) {
  const LearningRateOptions options = {.base_learning_rate = 1,
                                       .train_batch_size = 256,
                                       .num_train_images = 256 * 90,
                                       .train_steps = 90};
  ExpectRates(StepLearningRate(options),
              {{0, 0}, {4, 0.8}, {6, 1}, {29, 1}, {31, 0.1}, {59, 0.1}, {61, 0.01}, {81, 0.001}});
}

TEST(LearningRateTest, ABatchLargerThanTheDataIsOneStepPerEpoch) {
  const auto phases =
      RatePhases({.train_batch_size = 100, .num_train_images = 10, .train_steps = 90});
  EXPECT_EQ(phases[1].start_epoch, 30);
}

TEST(LearningRateTest, ForLarsThePeakDependsOnTheBatch) {
  struct Case {
    int64_t batch;
    double poly_rate, peak, warmup_epochs;
  };
  for (const Case& c : {Case{4096, 0, 10, 5}, Case{16384, 0, 25, 5}, Case{32768, 0, 32, 14},
                        Case{32768, 7, 7, 14}}) {
    const LearningRateOptions options = {.train_batch_size = c.batch,
                                         .num_train_images = c.batch * 100,
                                         .train_steps = 9000,
                                         .poly_rate = c.poly_rate};
    const double warmup_steps = c.warmup_epochs * 100;
    const double decay_steps = 9000 - warmup_steps + 1;
    const auto decayed = [&](double step) {
      return (c.peak - 1e-4) * std::pow(1 - (step - warmup_steps) / decay_steps, 2) + 1e-4;
    };
    ExpectRates(PolynomialLearningRate(options),
                {{0, 0},
                 {50, c.peak * 0.5 / c.warmup_epochs},
                 {static_cast<float>(warmup_steps), c.peak},
                 {static_cast<float>(warmup_steps) + 1, decayed(warmup_steps + 1)},
                 {5000, decayed(5000)},
                 {8999, decayed(8999)}});
  }
}

TEST(LearningRateTest, AWarmUpLongerThanTheRunOnlyRises) {
  ExpectRates(PolynomialLearningRate(
                  {.train_batch_size = 10, .num_train_images = 1000, .train_steps = 100}),
              {{0, 0}, {50, 1}, {99, 1.98}});
}

}  // namespace
}  // namespace estimator::imagenet
