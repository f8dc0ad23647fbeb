#include "tpu/stablehlo/lower_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/ops.h"
#include "estimator/ops/optimizer_ops.h"
#include "tpu/stablehlo/op_lowering.h"

namespace estimator::tpu::stablehlo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Tensor Zeros(const Shape& shape, DType dtype) { return Constant(Array(dtype, shape)); }

class LowerStepTest : public GraphTest {
 protected:
  // loss = sum((x * w)^2) over the replica; w takes one step of gradient descent with the sum of
  // all replicas.
  void BuildTraining() {
    x_ = Placeholder(DType::kFloat32, {4}, "x");
    w_.emplace(GetVariable("w", {4}, {.initializer = Zeros}));
    const Tensor y = x_ * *w_;
    loss_ = ReduceSum(y * y);
    const Tensor gradient = CrossReplicaSum(y * x_ * 2.0);
    const Tensor rate = Constant(0.1f);
    const UpdateDef& descent = *FindUpdateOp("ApplyGradientDescent");
    update_ = Assign(*w_, ApplyUpdate(descent, {*w_, rate, gradient})[0]);
  }
  ProgramSpec TrainingSpec() const {
    return {.feeds = {x_}, .fetches = {loss_}, .updates = {update_}};
  }

  Tensor x_, loss_;
  std::optional<Variable> w_;
  Operation update_;
};

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_F(LowerStepTest, ATrainingStepIsALoopOverStackedBatches) {
  BuildTraining();
  const auto module =
      LowerStep(graph_, TrainingSpec(), {.num_replicas = 2, .iterations = 5, .guard_fetch = 0});
  EST_ASSERT_OK(module);
  ASSERT_EQ(module->arguments.size(), 4u);
  EXPECT_EQ(module->arguments[0].kind, StepArgument::Kind::kVariable);
  EXPECT_EQ(module->arguments[0].name, "w");
  EXPECT_EQ(module->arguments[0].donated_to, 0);
  EXPECT_EQ(module->arguments[1].kind, StepArgument::Kind::kFeed);
  EXPECT_EQ(module->arguments[1].spec.shape, (Shape{5, 4}));
  EXPECT_EQ(module->arguments[2].kind, StepArgument::Kind::kNumSteps);
  EXPECT_EQ(module->arguments[3].kind, StepArgument::Kind::kFirstStep);
  ASSERT_EQ(module->results.size(), 3u);
  EXPECT_EQ(module->results[0].name, "w");
  EXPECT_EQ(module->results[1].spec.shape, (Shape{5}));
  EXPECT_EQ(module->results[2].kind, StepResult::Kind::kStepsDone);

  const std::string& text = module->text;
  EXPECT_THAT(text, HasSubstr("mhlo.num_replicas = 2 : i32"));
  EXPECT_THAT(text, HasSubstr("%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32}"));
  EXPECT_EQ(Count(text, "\"stablehlo.while\""), 1u);
  EXPECT_THAT(text, HasSubstr("replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"));
  EXPECT_THAT(text, HasSubstr("\"stablehlo.is_finite\""));
  // One sum for the gradient, one for the guard.
  EXPECT_EQ(Count(text, "\"stablehlo.all_reduce\""), 2u);
}

TEST_F(LowerStepTest, OneReplicaHasNoCollectives) {
  BuildTraining();
  const auto module = LowerStep(graph_, TrainingSpec(), {.guard_fetch = 0});
  EST_ASSERT_OK(module);
  EXPECT_THAT(module->text, Not(HasSubstr("all_reduce")));
  EXPECT_THAT(module->text, HasSubstr("\"stablehlo.is_finite\""));
}

TEST_F(LowerStepTest, WithoutAGuardEveryStepCounts) {
  BuildTraining();
  const auto module = LowerStep(graph_, TrainingSpec(), {.donate_variables = false});
  EST_ASSERT_OK(module);
  EXPECT_THAT(module->text, Not(HasSubstr("is_finite")));
  EXPECT_THAT(module->text, Not(HasSubstr("aliasing_output")));
  EXPECT_EQ(module->arguments[0].donated_to, -1);
}

TEST_F(LowerStepTest, AnUpdateThatDiffersBetweenReplicasTakesReplica0s) {
  const Tensor x = Placeholder(DType::kFloat32, {4}, "x");
  const Variable mean = GetVariable("moving_mean", {4}, {.initializer = Zeros});
  const Operation update = Assign(mean, Tensor(mean) * 0.9 + x * 0.1);
  const auto module =
      LowerStep(graph_, {.feeds = {x}, .fetches = {}, .updates = {update}}, {.num_replicas = 4});
  EST_ASSERT_OK(module);
  EXPECT_EQ(Count(module->text, "\"stablehlo.all_reduce\""), 1u);
  EXPECT_THAT(module->text, HasSubstr("dense<[[0, 1, 2, 3]]>"));
}

TEST_F(LowerStepTest, RandomNumbersFollowTheGlobalStep) {
  const Variable step = GetVariable(
      "global_step", {}, {.dtype = DType::kInt64, .initializer = Zeros, .trainable = false});
  const Tensor noise = RandomUniform({8}, {.seed = 3});
  const Operation update = AssignAdd(step, Constant(int64_t{1}));
  const auto module = LowerStep(graph_, {.feeds = {}, .fetches = {noise}, .updates = {update}},
                                {.num_replicas = 2});
  EST_ASSERT_OK(module);
  // global_step and num_steps; no first_step.
  ASSERT_EQ(module->arguments.size(), 2u);
  EXPECT_EQ(module->arguments[1].kind, StepArgument::Kind::kNumSteps);
  EXPECT_THAT(module->text, HasSubstr("\"stablehlo.replica_id\""));
  EXPECT_GE(Count(module->text, "\"stablehlo.shift_right_logical\""), 20u);  // ten Philox rounds
}

TEST_F(LowerStepTest, AllProblemsAreReportedWithTheNodesNames) {
  const Tensor text = Placeholder(DType::kString, {2}, "text");
  const Tensor number = Placeholder(DType::kFloat64, {2}, "wide");
  const Tensor same = Identity(text, "copy");
  const auto module =
      LowerStep(graph_, {.feeds = {text, number}, .fetches = {same}, .updates = {}});
  EXPECT_EQ(module.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(module.status().message()),
              HasSubstr("text:0 (an input): strings stay on the host"));
}

TEST_F(LowerStepTest, OptionsOutOfRangeAreErrors) {
  BuildTraining();
  EXPECT_THAT(LowerStep(graph_, TrainingSpec(), {.num_replicas = 0}).status(),
              ErrorHas("num_replicas and iterations must be at least 1"));
  EXPECT_THAT(LowerStep(graph_, TrainingSpec(), {.guard_fetch = 1}).status(),
              ErrorHas("guard_fetch is 1, but the step has 1 fetches"));
  EXPECT_THAT(LowerStep(graph_, TrainingSpec(), {.compute_dtype = DType::kInt8}).status(),
              ErrorHas("compute_dtype must be float32 or bfloat16"));
}

// The op families that this folder lowers itself; tpu/stablehlo/ops has the others.
TEST(StableHloRegistryTest, RandomOptimizerAndCollectiveOpsAreLowered) {
  for (const char* op : {"RandomUniform", "RandomStandardNormal", "TruncatedNormal",
                         "RandomUniformInt", "RandomShuffle", "CrossReplicaSum", "ReplicaId"})
    EXPECT_NE(FindLowering(op), nullptr) << op;
  for (const UpdateDef& def : UpdateOps()) EXPECT_NE(FindLowering(def.op), nullptr) << def.op;
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
