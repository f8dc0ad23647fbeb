#include "estimator/training/hooks/final_ops_hook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/runtime/backend.h"
#include "estimator/training/testing/fake_session.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FinalOpsHookTest : public ::testing::Test {
 protected:
  FinalOpsHookTest() : scope_(session_.fake_graph) {
    w_ = GetVariable("w", {2}, {});
    EST_EXPECT_OK(session_.store.Set("w", Array::Of<float>({2}, {1, 2})));
  }

  testing::FakeSession session_;
  GraphScope scope_;
  Variable w_;
};

TEST_F(FinalOpsHookTest, EvaluatesOnceAtTheEndWithTheVariablesAsTheyStandThen) {
  FinalOpsHook hook({{"twice", w_ * 2.0f}, {"w", w_}});
  EST_ASSERT_OK(session_.Start(hook));
  EXPECT_THAT(hook.final_ops_values(), IsEmpty());
  EST_ASSERT_OK(session_.store.Set("w", Array::Of<float>({2}, {3, 4})));
  const absl::Status ended = hook.End(session_);
  EST_ASSERT_OK(ended);
  EST_ASSERT_OK(session_.store.Set("w", Array::Of<float>({2}, {9, 9})));  // the values are copies
  EXPECT_THAT(hook.final_ops_values().at("w").values<float>(), ElementsAre(3, 4));
  EXPECT_THAT(hook.final_ops_values().at("twice").values<float>(), ElementsAre(6, 8));
}

// Behaviour J11; TensorFlow finds it when training is over.
TEST_F(FinalOpsHookTest, AnOpThatPullsInputIsRefusedWithAWarningAndEndOfInput) {
  const Tensor image = Placeholder(DType::kFloat32, {2}, "image");
  FinalOpsHook hook({{"sum", image + w_}});
  const testing::CapturedLog log;
  const absl::Status status = session_.Start(hook);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange,
                               AllOf(HasSubstr("FinalOpsHook"), HasSubstr("'image' (f32 [2])"))));
  EXPECT_THAT(log.warnings, ElementsAre(HasSubstr("depends on the input")));
}

TEST_F(FinalOpsHookTest, AVariableWithoutAValueIsNamed) {
  const Variable fresh = GetVariable("fresh", {2}, {});
  FinalOpsHook hook({{"fresh", fresh}});
  EST_ASSERT_OK(session_.Start(hook));
  EXPECT_THAT(hook.End(session_), ErrorHas("fresh"));
}

TEST_F(FinalOpsHookTest, WhatIsNotATensorIsRefused) {
  FinalOpsHook hook({{"nothing", Tensor()}});
  EXPECT_THAT(session_.Start(hook), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace estimator
