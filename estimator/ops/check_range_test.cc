#include "estimator/ops/check_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;

class CheckRangeTest : public GraphTest {
 protected:
  Tensor Checked(const Tensor& x) {
    return CheckRange(x, {.low = 0, .high = 4, .what = "classes", .cure = "raise num_classes"});
  }
  absl::Status Error(const Tensor& x) {
    const absl::Status status = testing::Eval(Checked(x)).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    return status;
  }
};

TEST_F(CheckRangeTest, WhatIsInsidePasses) {
  const auto y = testing::Eval(Checked(Constant({0.f, 4.f, 2.5f})));
  EST_ASSERT_OK(y);
  EXPECT_THAT(y->values<float>(), ElementsAre(0, 4, 2.5f));
}

TEST_F(CheckRangeTest, TheFirstElementOutsideFailsTheStepAndIsNamedWithTheCure) {
  EXPECT_THAT(Error(Constant({1.f, 4.5f, -1.f})),
              ErrorHas("classes must be in [0, 4], but element 1 of f32 [3] is 4.5: raise "
                       "num_classes"));
  EXPECT_THAT(Error(Constant({-1, 5})), ErrorHas("element 0 of i32 [2] is -1"));
  EXPECT_THAT(Error(Constant(std::numeric_limits<float>::quiet_NaN())), ErrorHas("f32 [] is nan"));
}

TEST_F(CheckRangeTest, AGradientGoesThrough) {
  const Tensor x = Placeholder(DType::kFloat32, {2}, "x");
  const auto gradient =
      testing::Eval(Gradients({Checked(x)}, {x})[0], {{x, Array::Of<float>({2}, {1, 2})}});
  EST_ASSERT_OK(gradient);
  EXPECT_THAT(gradient->values<float>(), ElementsAre(1, 1));
}

TEST_F(CheckRangeTest, YesAndNoAreNoNumbers) {
  Checked(Constant(true));
  EXPECT_THAT(graph_.status(), ErrorHas("classes must be numbers"));
}

}  // namespace
}  // namespace estimator
