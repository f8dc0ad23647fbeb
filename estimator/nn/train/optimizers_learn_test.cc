// Every optimizer, with its defaults, down a parabola under a schedule.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "estimator/graph/graph.h"
#include "estimator/nn/testing/step.h"
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
#include "estimator/nn/train/proximal_adagrad.h"
#include "estimator/nn/train/rms_prop.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"

namespace estimator::train {
namespace {

struct Named {
  const char* name;
  // For a rate of about 0.1, scaled by `factor` where the optimizer's own unit is another.
  double factor;
  std::shared_ptr<Optimizer> (*make)(Schedule rate);
};

template <typename T>
Named Of(const char* name, double factor = 1) {
  return {name, factor, [](Schedule rate) -> std::shared_ptr<Optimizer> {
            if constexpr (std::is_same_v<T, Momentum>) {
              return std::make_shared<T>(std::move(rate), 0.9);
            } else {
              return std::make_shared<T>(std::move(rate));
            }
          }};
}

class LearningTest : public ::testing::TestWithParam<Named> {
 protected:
  // The mean square of [2, 3] matrix w after 30 steps from 1 and a half.
  double LossAfterThirtySteps(const Schedule& rate, DType dtype = DType::kFloat32) {
    Graph graph;
    const GraphScope scope(graph);
    const Variable w = GetVariable(
        "w", {2, 3}, {.dtype = dtype, .initializer = [](const Shape&, DType type) {
                        return Cast(Constant({2, 3}, {1.5f, -1.f, .5f, 1.f, 2.f, -2.f}), type);
                      }});
    const Tensor loss = ReduceMean(Square(w));
    const Operation step = GetParam().make(rate)->Minimize(loss);
    testing::Stepper stepper(graph);
    stepper.Run(step, {}, 30);
    double sum = 0;
    for (const double value : testing::Doubles(stepper.Value("w"))) sum += value * value;
    return sum / 6;
  }

  Schedule Decaying() const {
    return ExponentialDecay(
        {.initial = 0.1 * GetParam().factor, .decay_steps = 5, .decay_rate = 0.8});
  }
};

TEST_P(LearningTest, TheLossFallsUnderADecayingRateAndNotAsUnderAConstantOne) {
  constexpr double kBefore = (2.25 + 1 + 0.25 + 1 + 4 + 4) / 6;
  const double decaying = LossAfterThirtySteps(Decaying());
  EXPECT_LT(decaying, 0.9 * kBefore);
  const double constant = LossAfterThirtySteps(0.1 * GetParam().factor);
  EXPECT_GT(std::abs(decaying - constant), 1e-3 * constant);
}

TEST_P(LearningTest, VariablesMayBeDoubles) {
  const double single = LossAfterThirtySteps(Decaying());
  EXPECT_NEAR(LossAfterThirtySteps(Decaying(), DType::kFloat64), single, 1e-4 * single);
}

INSTANTIATE_TEST_SUITE_P(All, LearningTest,
                         ::testing::Values(Of<GradientDescent>("GradientDescent", 3),
                                           Of<Momentum>("Momentum", 0.3), Of<Adam>("Adam", 0.3),
                                           Of<LazyAdam>("LazyAdam", 0.3),
                                           Of<RMSProp>("RMSProp", 0.3), Of<Adagrad>("Adagrad"),
                                           Of<Adadelta>("Adadelta", 500), Of<Ftrl>("Ftrl"),
                                           Of<ProximalAdagrad>("ProximalAdagrad"),
                                           Of<AdamWeightDecay>("AdamWeightDecay", 0.1),
                                           Of<Adafactor>("Adafactor", 0.3), Of<LARS>("LARS", 50),
                                           Of<LAMB>("LAMB", 0.1), Of<AdaBelief>("AdaBelief", 0.3)),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace estimator::train
