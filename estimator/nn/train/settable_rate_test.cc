#include "estimator/nn/train/settable_rate.h"

#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/testing/step.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/nn/train/momentum.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/summary.h"

namespace estimator::train {
namespace {

class SettableRateTest : public GraphTest {
 protected:
  static Variable Ones(const char* name) {
    return GetVariable(name, {},
                       {.initializer = [](const Shape&, DType) { return Constant(1.f); }});
  }
  // Sets the rate as a hook does.
  void Set(float rate, testing::Stepper& stepper) {
    stepper.Run(Assign(*graph_.FindVariable(kSetLearningRate), Constant(rate)));
  }
  void ExpectInputsFirst() {
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = *graph_.nodes()[i];
      EXPECT_EQ(node.id(), static_cast<int>(i));
      for (const Tensor& input : node.inputs()) EXPECT_LT(input.node()->id(), node.id());
      for (const Operation& control : node.control_inputs())
        EXPECT_LT(control.node()->id(), node.id());
    }
  }
};

TEST_F(SettableRateTest, TheConstantCountsUntilARateIsSet) {
  const Variable w = Ones("w");
  const Operation step = GradientDescent(0.25).Minimize(w * 1.0f);
  EST_ASSERT_OK(MakeLearningRateSettable(graph_));
  EST_ASSERT_OK(MakeLearningRateSettable(graph_)) << "a second call does nothing";
  ExpectInputsFirst();
  testing::Stepper stepper(graph_);
  stepper.Run(step);
  testing::ExpectNear(stepper.Value("w"), {0.75}, 0);
  Set(0.5, stepper);
  stepper.Run(step);
  testing::ExpectNear(stepper.Value("w"), {0.25}, 0);
  Set(0, stepper);
  stepper.Run(step);
  testing::ExpectNear(stepper.Value("w"), {0.25}, 0);
}

// The schedule's rate is 0 in the first step, so that there is no ratio.
TEST_F(SettableRateTest, SeveralRatesKeepTheirRatio) {
  const Variable a = Ones("backbone/w"), b = Ones("head/w");
  const Operation step = GradientDescent(RateByName({{"backbone/", WarmUpScaled(2, 0.125)},
                                                     {"head/", WarmUpScaled(2, 0.5)}}))
                             .Minimize(a + b);
  EST_ASSERT_OK(MakeLearningRateSettable(graph_));
  ExpectInputsFirst();
  testing::Stepper stepper(graph_);
  Set(0.25, stepper);
  stepper.Run(step);
  testing::ExpectNear(stepper.Value("backbone/w"), {0.75}, 0);
  testing::ExpectNear(stepper.Value("head/w"), {0.75}, 0);
  stepper.Run(step);
  testing::ExpectNear(stepper.Value("backbone/w"), {0.75 - 0.0625}, 0);
  testing::ExpectNear(stepper.Value("head/w"), {0.5}, 0);
}

// Rates that depend on each other, made before and after the updates that read them.
TEST_F(SettableRateTest, ARateOfAnotherRateIsNoCycle) {
  const Variable a = Ones("a"), b = Ones("b");
  const Tensor rate = Constant(0.5f);
  const Operation first =
      GradientDescent(rate).Minimize(a * 1.0f, {.var_list = {a}, .increment_global_step = false});
  const Operation second = Momentum(rate * 0.5f, 0).Minimize(b * 1.0f, {.var_list = {b}});
  EST_ASSERT_OK(MakeLearningRateSettable(graph_));
  ExpectInputsFirst();
  testing::Stepper stepper(graph_);
  Set(0.25, stepper);
  stepper.Run(Group({first, second}));
  testing::ExpectNear(stepper.Value("a"), {0.75}, 0);
  testing::ExpectNear(stepper.Value("b"), {0.875}, 0);
}

TEST_F(SettableRateTest, ASummaryOfTheTensorShowsTheRateThatIsSet) {
  const Variable w = Ones("w");
  const Tensor rate = Constant(0.5f);
  summary::Scalar("learning_rate", rate);
  (void)GradientDescent(rate).Minimize(w * 1.0f);
  EST_ASSERT_OK(MakeLearningRateSettable(graph_));
  testing::Stepper stepper(graph_);
  testing::ExpectNear(stepper.Eval(graph_.summaries()[0].value), {0.5}, 0);
  Set(0.125, stepper);
  testing::ExpectNear(stepper.Eval(graph_.summaries()[0].value), {0.125}, 0);
}

// The op knows what its operand is, so a graph of TensorFlow's needs no optimizer of ours.
TEST_F(SettableRateTest, TheRateOfAnUpdateOpIsFound) {
  const Variable w = Ones("w");
  const Operation step = GradientDescent(0.25).Minimize(w * 1.0f);
  graph_.learning_rates().clear();
  EST_ASSERT_OK(MakeLearningRateSettable(graph_));
  testing::Stepper stepper(graph_);
  Set(0.5, stepper);
  stepper.Run(step);
  testing::ExpectNear(stepper.Value("w"), {0.5}, 0);
  ASSERT_EQ(LearningRates(graph_).size(), 1u);
  testing::ExpectNear(stepper.Eval(LearningRates(graph_)[0]), {0.25}, 0);
}

TEST_F(SettableRateTest, UpdatesWithoutARateAreRefused) {
  const Variable w = Ones("w");
  (void)Assign(w, w * 0.5f);
  EXPECT_THAT(MakeLearningRateSettable(graph_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       ::testing::HasSubstr("train_op has no learning rate that can be set")));
  EXPECT_FALSE(graph_.FindVariable(kSetLearningRate).has_value());
}

TEST_F(SettableRateTest, ItIsNoVariableOfTheModel) {
  const Variable w = Ones("w");
  (void)Momentum(0.25, 0.9).Minimize(w * 1.0f);
  EST_ASSERT_OK(MakeLearningRateSettable(graph_));
  ASSERT_EQ(graph_.variables().size(), 4u);  // with global_step and w/Momentum
  ASSERT_EQ(graph_.ModelVariables().size(), 1u);
  EXPECT_EQ(graph_.ModelVariables()[0].name(), "w");
}

}  // namespace
}  // namespace estimator::train
