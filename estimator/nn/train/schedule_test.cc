// Schedules against numbers of TF 2.15 tf.compat.v1.train.*_decay at the same steps.
#include "estimator/nn/train/schedule.h"

#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/node.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/testing/step.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/testing/eval.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::ExpectError;

// The rates at steps 0, 1, 5, 10, 11, 25 and 100.
void ExpectRates(const Schedule& schedule, const std::vector<double>& expected,
                 double tolerance = 1e-7) {
  const std::vector<float> steps = {0, 1, 5, 10, 11, 25, 100};
  ASSERT_EQ(steps.size(), expected.size());
  Graph graph;
  const GraphScope scope(graph);
  for (size_t i = 0; i < steps.size(); ++i) {
    const absl::StatusOr<Array> rate = testing::Eval(schedule.At(Constant(steps[i])));
    EST_ASSERT_OK(rate);
    EXPECT_NEAR(rate->scalar<float>(), expected[i], tolerance) << "at step " << steps[i];
  }
}

// The rate at a global_step of `step`.
float RateAt(const Schedule& schedule, int64_t step) {
  Graph graph;
  const GraphScope scope(graph);
  const absl::StatusOr<Array> rate = testing::Eval(schedule.At(Constant(step)));
  EST_EXPECT_OK(rate);
  return rate.ok() ? rate->scalar<float>() : -1;
}

TEST(Schedule, ExponentialDecayWithAndWithoutStairs) {
  ExpectRates(train::ExponentialDecay({.initial = 0.1, .decay_steps = 10, .decay_rate = 0.5}),
              {0.1, 0.0933033, 0.070710681, 0.05, 0.04665165, 0.01767767, 9.7656251e-05});
  ExpectRates(train::ExponentialDecay(
                  {.initial = 0.1, .decay_steps = 10, .decay_rate = 0.5, .staircase = true}),
              {0.1, 0.1, 0.1, 0.05, 0.05, 0.025, 9.7656251e-05});
}

TEST(Schedule, NaturalExponentialAndInverseTimeDecay) {
  ExpectRates(
      train::NaturalExpDecay({.initial = 0.1, .decay_steps = 10, .decay_rate = 0.5}),
      {0.1, 0.095122948, 0.077880077, 0.060653068, 0.057694983, 0.028650481, 0.00067379483});
  ExpectRates(train::InverseTimeDecay({.initial = 0.1, .decay_steps = 10, .decay_rate = 0.5}),
              {0.1, 0.095238104, 0.08, 0.06666667, 0.064516135, 0.044444446, 0.016666668});
}

TEST(Schedule, PolynomialDecayEndsOrCycles) {
  ExpectRates(train::PolynomialDecay({.initial = 0.1, .decay_steps = 50, .end = 0.01, .power = 2}),
              {0.1, 0.096436009, 0.0829, 0.0676, 0.064755999, 0.0325, 0.01});
  ExpectRates(train::PolynomialDecay(
                  {.initial = 0.1, .decay_steps = 10, .end = 0.01, .power = 2, .cycle = true}),
              {0.1, 0.0829, 0.0325, 0.01, 0.028224999, 0.0125, 0.01});
}

TEST(Schedule, PiecewiseConstantChangesAfterItsBoundaries) {
  ExpectRates(train::PiecewiseConstant({.boundaries = {10, 20}, .values = {1, 0.5, 0.1}}),
              {1, 1, 1, 1, 0.5, 0.1, 0.1});
}

// f32 has no number between 2^24 and 2^24 + 2.
TEST(Schedule, BoundariesBeyond2To24AreNotRounded) {
  const int64_t boundary = (int64_t{1} << 24) + 1;
  const Schedule rate = train::PiecewiseConstant({.boundaries = {boundary}, .values = {1, 0.5}});
  EXPECT_EQ(RateAt(rate, boundary), 1);
  EXPECT_EQ(RateAt(rate, boundary + 1), 0.5);
  const double steps = static_cast<double>(boundary);
  EXPECT_EQ(RateAt(train::WarmUp(steps, 1, 0.25), boundary - 1), 1);  // 2^24 / (2^24 + 1)
  EXPECT_EQ(RateAt(train::WarmUp(steps, 1, 0.25), boundary), 0.25);
  EXPECT_EQ(RateAt(train::WarmUp(steps - 0.5, 1, 0.25), boundary - 1), 1);
  // The schedule after the warm-up counts from its end, exactly too.
  const Schedule later = train::PiecewiseConstant({.boundaries = {boundary}, .values = {2, 3}});
  const Schedule delayed = train::WarmUpThen({.warmup_steps = steps, .peak = 1}, later);
  EXPECT_EQ(RateAt(delayed, boundary - 1), 1);
  EXPECT_EQ(RateAt(delayed, 2 * boundary), 2);
  EXPECT_EQ(RateAt(delayed, 2 * boundary + 1), 3);
}

TEST(Schedule, ComparesGlobalStepItself) {
  Graph graph;
  const GraphScope scope(graph);
  const Tensor rate = train::PiecewiseConstant({.boundaries = {10}, .values = {1, 0.5}}).Build();
  const Tensor compared = rate.node()->input(0).node()->input(0);
  EXPECT_EQ(compared, GetOrCreateGlobalStep().read());
}

TEST(Schedule, CosineDecayWithAndWithoutRestarts) {
  ExpectRates(train::CosineDecay({.initial = 0.1, .decay_steps = 50, .alpha = 0.1}),
              {0.1, 0.099911205, 0.097797543, 0.091405764, 0.089673094, 0.055, 0.01});
  ExpectRates(
      train::CosineDecayRestarts(
          {.initial = 0.1, .first_decay_steps = 10, .t_mul = 2, .m_mul = 0.5, .alpha = 0.1}),
      {0.1, 0.097797543, 0.055, 0.055000003, 0.054722991, 0.016590098, 0.017777596});
}

TEST(Schedule, LinearCosineDecayEndsAtBeta) {
  ExpectRates(train::LinearCosineDecay(
                  {.initial = 0.1, .decay_steps = 50, .num_periods = 1.5, .alpha = 0.1}),
              {0.11010001, 0.10714351, 0.079489261, 0.031194231, 0.022902831, 0.030100001, 0.0001});
  ExpectRates(train::LinearCosineDecay({.initial = 0.1, .decay_steps = 50}),
              {0.1001, 0.098003305, 0.087897539, 0.072460674, 0.069150016, 0.025099998, 0.0001});
}

// Each number is TensorFlow's in a new session, whose first noise is that of step 0 here.
TEST(Schedule, NoisyLinearCosineDecayHasTensorFlowsNoise) {
  const std::vector<float> steps = {0, 1, 5, 10, 11, 25, 100};
  const std::vector<double> expected = {-0.083143614, -0.053289007, -0.021316154, -0.013254647,
                                        -0.01275739,  -0.01230082,  0.0001};
  Graph graph;
  graph.set_seed(87);
  const GraphScope scope(graph);
  const Schedule schedule = train::NoisyLinearCosineDecay(
      {.initial = 0.1, .decay_steps = 50, .initial_variance = 0.5, .seed = 5});
  for (size_t i = 0; i < steps.size(); ++i) {
    const absl::StatusOr<Array> rate = testing::Eval(schedule.At(Constant(steps[i])));
    EST_ASSERT_OK(rate);
    EXPECT_NEAR(rate->scalar<float>(), expected[i], 1e-7) << "at step " << steps[i];
  }
}

TEST(Schedule, LinearCosineDecaysNodesHaveTensorFlowsNames) {
  Graph graph;
  const GraphScope scope(graph);
  EXPECT_EQ(train::LinearCosineDecay({.initial = 0.1}).Build().name(),
            "learning_rate/LinearCosineDecay:0");
  EXPECT_EQ(train::NoisyLinearCosineDecay({.initial = 0.1}).Build().name(),
            "learning_rate_1/NoisyLinearCosineDecay:0");
  EXPECT_TRUE(graph
                  .FindTensor("learning_rate_1/NoisyLinearCosineDecay/random_normal/"
                              "RandomStandardNormal:0")
                  .valid());
}

TEST(Schedule, NoamDecayRisesThenFallsWithTheRootOfTheStep) {
  // 64^-0.5 * min(t^-0.5, t * 10^-1.5), t = step + 1
  ExpectRates(train::NoamDecay({.model_size = 64, .warmup_steps = 10}),
              {0.0039528471, 0.0079056942, 0.023717082, 0.037688918, 0.036084392, 0.024514517,
               0.012437965});
}

TEST(Schedule, WarmUpReplacesAsInBert) {
  const Schedule linear = train::PolynomialDecay({.initial = 1, .decay_steps = 100, .end = 0});
  ExpectRates(train::WarmUp(10, 1, linear), {0, 0.1, 0.5, 0.9, 0.89, 0.75, 0});
}

TEST(Schedule, WarmUpScaledMultipliesAsInElectra) {
  const Schedule linear = train::PolynomialDecay({.initial = 1, .decay_steps = 100, .end = 0});
  ExpectRates(train::WarmUpScaled(10, linear), {0, 0.099, 0.475, 0.9, 0.89, 0.75, 0});
}

TEST(Schedule, WarmUpThenStartsTheNextScheduleAtItsEnd) {
  const Schedule linear = train::PolynomialDecay({.initial = 1, .decay_steps = 100, .end = 0});
  ExpectRates(train::WarmUpThen({.warmup_steps = 10, .initial = 0.5, .peak = 1}, linear),
              {0.5, 0.55, 0.75, 1, 0.99, 0.85, 0.1});
}

TEST(Schedule, ConstantsTensorsAndFunctionsAreSchedules) {
  ExpectRates(0.25, {0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25});
  ExpectRates([](const Tensor& step) { return step * 2; }, {0, 2, 10, 20, 22, 50, 200});
  Graph graph;
  const GraphScope scope(graph);
  const Tensor rate = Constant(0.5f);
  EXPECT_EQ(Schedule(rate).Build(), rate);
}

TEST(Schedule, BuildReadsTheInt64GlobalStep) {
  Graph graph;
  const GraphScope scope(graph);
  const Tensor rate =
      train::ExponentialDecay({.initial = 0.1, .decay_steps = 10, .decay_rate = 0.5}).Build();
  const Variable step = *graph.GlobalStep();
  EXPECT_EQ(step.dtype(), DType::kInt64);
  testing::ExpectNear(*testing::Eval(rate, {{step.read(), Array::Scalar<int64_t>(10)}}), {0.05},
                      1e-7);
}

TEST(Schedule, MistakesAreNamed) {
  Graph graph;
  const GraphScope scope(graph);
  train::PiecewiseConstant({.boundaries = {10, 20}, .values = {1, 0.5}}).Build();
  ExpectError(graph, {"PiecewiseConstant", "2 boundaries", "2 values"});
  Graph other;
  const GraphScope other_scope(other);
  train::ExponentialDecay({.initial = 0.1, .decay_steps = 0}).Build();
  ExpectError(other, {"ExponentialDecay", "decay_steps", "0"});
  Graph noisy;
  const GraphScope noisy_scope(noisy);
  train::NoisyLinearCosineDecay({.initial = 0.1, .decay_steps = -1}).Build();
  ExpectError(noisy, {"NoisyLinearCosineDecay", "decay_steps", "-1"});
}

// The formula of the header, by hand.
TEST(Schedule, RampSustainDecayAndOneCycle) {
  ExpectRates(
      train::RampSustainDecay(
          {.start = 0.1, .max = 1, .min = 0.2, .rampup = 5, .sustain = 6, .exp_decay = 0.5}),
      {0.1, 0.28, 1, 1, 1, 0.2 + 0.8 / 16384, 0.2}, 1e-6);
  ExpectRates(train::RampSustainDecay({.start = 9, .max = 1, .sustain = 5, .exp_decay = 0.5}),
              {1, 1, 1, 0.03125, 0.015625, 1.0 / (1 << 20), 0}, 1e-6);
  ExpectRates(train::OneCycle({.max = 1,
                               .total_steps = 100,
                               .pct_start = 0.11,
                               .div_factor = 10,
                               .final_div_factor = 10}),
              {0.1, 0.12202457, 0.55, 1, 0.99969165, 0.93221909, 0.01}, 1e-6);
}

TEST(Schedule, ByEpochIsTheScheduleOfTheEpoch) {
  const Schedule halves =
      train::ByEpoch(5, train::ExponentialDecay({.initial = 1, .decay_rate = 0.5}));
  ExpectRates(halves, {1, 1, 0.5, 0.25, 0.25, 0.03125, 1.0 / (1 << 20)});
  // In f32, this step would be the next one, which begins an epoch.
  EXPECT_EQ(RateAt(train::ByEpoch(3, [](const Tensor& epoch) { return epoch * 1.0f; }), 16777223),
            5592407);
  EXPECT_EQ(RateAt(train::ByEpoch(
                       10, train::PiecewiseConstant({.boundaries = {1}, .values = {0.5, 0.25}})),
                   20),
            0.25);
}

TEST(Schedule, OptionsThatMakeNoCurveAreRefused) {
  const auto error = [](const Schedule& schedule, const std::string& part) {
    Graph graph;
    const GraphScope scope(graph);
    schedule.At(Constant(1.0f));
    ExpectError(graph, {part});
  };
  error(train::OneCycle({.max = 1}), "OneCycle: total_steps - 1 must be positive");
  error(train::OneCycle({.max = 1, .total_steps = 3}), "pct_start * total_steps - 1");
  error(train::ByEpoch(0, 0.1), "ByEpoch: steps_per_epoch must be positive, got 0");
}

}  // namespace
}  // namespace estimator
