#include "estimator/ops/check_numerics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/testing/eval.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;

class CheckNumericsTest : public GraphTest {
 protected:
  const float nan_ = std::numeric_limits<float>::quiet_NaN();
  const float inf_ = std::numeric_limits<float>::infinity();
};

TEST_F(CheckNumericsTest, FiniteNumbersPass) {
  const Tensor x = Placeholder(DType::kFloat32, {2}, "x");
  const auto y = testing::Eval(CheckNumerics(x, "x is"), {{x, Array::Of<float>({2}, {1, -3e38f})}});
  EST_ASSERT_OK(y);
  EXPECT_THAT(y->values<float>(), ElementsAre(1, -3e38f));
}

TEST_F(CheckNumericsTest, WhatIsNotFiniteFailsTheStepAndIsNamed) {
  const Tensor x = Placeholder(DType::kFloat32, {2}, "x");
  const Tensor y = Exp(CheckNumerics(x, "the logits"));
  const auto error = [&](float a, float b) {
    const absl::Status status = testing::Eval(y, {{x, Array::Of<float>({2}, {a, b})}}).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    return status;
  };
  EXPECT_THAT(error(1, nan_), ErrorHas("the logits : Tensor had NaN values"));
  EXPECT_THAT(error(-inf_, 1), ErrorHas("the logits : Tensor had Inf values"));
  EXPECT_THAT(error(nan_, inf_), ErrorHas("Tensor had Inf and NaN values"));
}

// No pass takes the value for known.
TEST_F(CheckNumericsTest, AConstantIsCheckedToo) {
  const auto value = testing::Eval(CheckNumerics(Constant(nan_), "a constant"));
  EXPECT_THAT(value, ErrorHas("Tensor had NaN values"));
  EXPECT_TRUE(CheckNumerics(Constant(1.0f), "a constant").node()->rules().stateful);
}

TEST_F(CheckNumericsTest, GradientsAreChecked) {
  const Tensor x = Placeholder(DType::kFloat32, {2}, "x");
  const Tensor y = Sqrt(CheckNumerics(x, "x is"));  // its gradient is infinite at 0
  const Tensor gradient = Gradients({y}, {x})[0];
  const auto finite = testing::Eval(gradient, {{x, Array::Of<float>({2}, {1, 4})}});
  EST_ASSERT_OK(finite);
  EXPECT_THAT(finite->values<float>(), ElementsAre(0.5f, 0.25f));
  const auto infinite = testing::Eval(gradient, {{x, Array::Of<float>({2}, {1, 0})}});
  EXPECT_THAT(infinite,
              ErrorHas("(Inf) values detected in gradient. x is : Tensor had Inf values"));
}

TEST_F(CheckNumericsTest, IntegersAreRefused) {
  CheckNumerics(Constant(3), "three");
  EXPECT_THAT(graph_.status(), ErrorHas("floating"));
}

}  // namespace
}  // namespace estimator
