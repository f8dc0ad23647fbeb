#include "estimator/training/hooks/final_ops_hook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "estimator/base/testing/captured_log.h"
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
    EXPECT_TRUE(session_.store.Set("w", Array::Of<float>({2}, {1, 2})).ok());
  }

  testing::FakeSession session_;
  GraphScope scope_;
  Variable w_;
};

TEST_F(FinalOpsHookTest, EvaluatesOnceAtTheEndWithTheVariablesAsTheyStandThen) {
  FinalOpsHook hook({{"twice", w_ * 2.0f}, {"w", w_}});
  ASSERT_TRUE(session_.Start(hook).ok());
  EXPECT_THAT(hook.final_ops_values(), IsEmpty());
  ASSERT_TRUE(session_.store.Set("w", Array::Of<float>({2}, {3, 4})).ok());
  const absl::Status ended = hook.End(session_);
  ASSERT_TRUE(ended.ok()) << ended;
  ASSERT_TRUE(
      session_.store.Set("w", Array::Of<float>({2}, {9, 9})).ok());  // the values are copies
  EXPECT_THAT(hook.final_ops_values().at("w").values<float>(), ElementsAre(3, 4));
  EXPECT_THAT(hook.final_ops_values().at("twice").values<float>(), ElementsAre(6, 8));
}

// Behaviour J11; TensorFlow finds it when training is over.
TEST_F(FinalOpsHookTest, AnOpThatPullsInputIsRefusedWithAWarningAndEndOfInput) {
  const Tensor image = Placeholder(DType::kFloat32, {2}, "image");
  FinalOpsHook hook({{"sum", image + w_}});
  const testing::CapturedLog log;
  const absl::Status status = session_.Start(hook);
  EXPECT_TRUE(absl::IsOutOfRange(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("FinalOpsHook"), HasSubstr("'image' (f32 [2])")));
  EXPECT_THAT(log.warnings, ElementsAre(HasSubstr("needs data from the input")));
}

TEST_F(FinalOpsHookTest, AVariableWithoutAValueIsNamed) {
  const Variable fresh = GetVariable("fresh", {2}, {});
  FinalOpsHook hook({{"fresh", fresh}});
  ASSERT_TRUE(session_.Start(hook).ok());
  EXPECT_THAT(std::string(hook.End(session_).message()), HasSubstr("fresh"));
}

TEST_F(FinalOpsHookTest, WhatIsNotATensorIsRefused) {
  FinalOpsHook hook({{"nothing", Tensor()}});
  EXPECT_TRUE(absl::IsInvalidArgument(session_.Start(hook)));
}

}  // namespace
}  // namespace estimator
