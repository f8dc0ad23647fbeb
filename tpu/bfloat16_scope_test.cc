#include "tpu/bfloat16_scope.h"

#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "tpu/tpu_estimator.h"

namespace estimator::tpu {
namespace {

class Bfloat16ScopeTest : public testing::Test {
 protected:
  Graph graph_;
  const GraphScope graph_scope_{graph_};
};

TEST_F(Bfloat16ScopeTest, AVariableIsFloat32AndReadsAsBfloat16) {
  Variable inside, f32;
  {
    const Bfloat16Scope scope;
    inside = GetVariable("w", {2, 3}, {.dtype = DType::kBfloat16});
    f32 = GetVariable("f32", {2});
  }
  const Variable outside = GetVariable("bf16", {2}, {.dtype = DType::kBfloat16});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(inside.name(), "w");
  EXPECT_EQ(inside.dtype(), DType::kFloat32);
  EXPECT_EQ(inside.initial_value().dtype(), DType::kFloat32);
  EXPECT_EQ(inside.read().dtype(), DType::kBfloat16);
  EXPECT_EQ(f32.read().dtype(), DType::kFloat32);
  EXPECT_EQ(outside.dtype(), DType::kBfloat16);
  // What optimizers and checkpoints see.
  EXPECT_EQ(graph_.FindVariable("w")->read().dtype(), DType::kFloat32);
}

TEST_F(Bfloat16ScopeTest, HoldsInInnerScopesAndInOnesThatAreOpenedAgain) {
  CapturedVariableScope captured;
  {
    const Bfloat16Scope scope("model");
    const VariableScope inner("layer");
    captured = GetVariableScope();
    EXPECT_EQ(GetVariable("a", {2}, {.dtype = DType::kBfloat16}).dtype(), DType::kFloat32);
  }
  const VariableScope again(captured, {.reuse = Reuse::kAuto});
  const Variable shared = GetVariable("a", {2}, {.dtype = DType::kBfloat16});
  const Variable other = GetVariable("b", {2}, {.dtype = DType::kBfloat16});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(shared.name(), "model/layer/a");
  EXPECT_EQ(shared.read().dtype(), DType::kBfloat16);
  EXPECT_EQ(other.dtype(), DType::kFloat32);
}

TEST_F(Bfloat16ScopeTest, GradientsAndUpdatesAreFloat32) {
  Variable w;
  Tensor y;
  {
    const Bfloat16Scope scope;
    w = GetVariable("w", {4, 2}, {.dtype = DType::kBfloat16});
    y = layers::Dense(MatMul(Ones({3, 4}, DType::kBfloat16), w), {.units = 2});
  }
  EXPECT_EQ(y.dtype(), DType::kBfloat16);
  const Tensor loss = ReduceMean(Cast(y, DType::kFloat32));
  train::GradientDescent optimizer(0.1);
  // With all variables, and with the handle that reads as bf16.
  for (const std::vector<Variable>& variables : {std::vector<Variable>{}, {w}}) {
    for (const auto& [gradient, variable] : optimizer.ComputeGradients(loss, variables)) {
      EXPECT_EQ(gradient.dtype(), DType::kFloat32) << variable.name();
      EXPECT_EQ(variable.read().dtype(), DType::kFloat32) << variable.name();
    }
  }
  EXPECT_TRUE(optimizer.Minimize(loss, {.var_list = {w}}).valid());
  EST_EXPECT_OK(graph_.status());
}

}  // namespace
}  // namespace estimator::tpu
