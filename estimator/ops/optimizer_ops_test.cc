#include "estimator/ops/optimizer_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"

namespace estimator {
namespace {

class OptimizerOpsTest : public GraphTest {
 protected:
  static Tensor C(double value) { return Constant(static_cast<float>(value)); }
};

TEST_F(OptimizerOpsTest, NewStateMayTakeThePlaceOfTheOld) {
  const KernelSpec spec = {.op = "ApplyMomentum",
                           .name = "m",
                           .attrs = {{"use_nesterov", true}},
                           .inputs = {{DType::kFloat32, {2}},
                                      {DType::kFloat32, {2}},
                                      {DType::kFloat32, {}},
                                      {DType::kFloat32, {2}},
                                      {DType::kFloat32, {}}},
                           .outputs = {{DType::kFloat32, {2}}, {DType::kFloat32, {2}}},
                           .constants = {}};
  const auto kernel = CreateKernel(spec, KernelTier::kReference);
  EST_ASSERT_OK(kernel);
  EXPECT_EQ((*kernel)->AliasInput(0), 0);
  EXPECT_EQ((*kernel)->AliasInput(1), 1);
  float var[] = {1, 2}, accum[] = {0.5, -0.5}, lr = 0.5, grad[] = {1, 2}, momentum = 0.5;
  const void* inputs[] = {var, accum, &lr, grad, &momentum};
  void* outputs[] = {var, accum};
  EST_ASSERT_OK((*kernel)->Run({.inputs = inputs, .outputs = outputs, .step = {}}));
  // accum' = 1.25, 1.75; var' = var - 0.5 * (grad + 0.5 * accum').
  EXPECT_EQ(accum[0], 1.25f);
  EXPECT_EQ(accum[1], 1.75f);
  EXPECT_EQ(var[0], 0.1875f);
  EXPECT_EQ(var[1], 0.5625f);
}

TEST_F(OptimizerOpsTest, AnOperandOfAnotherShapeOrTypeIsNamed) {
  EXPECT_FALSE(ApplyUpdate(*FindUpdateOp("ApplyMomentum"),
                           {Ones({2}), Ones({2}), C(0.1), Ones({3}), C(0.9)})[0]
                   .valid());
  EXPECT_EQ(graph_.status().message().substr(0, 39), "ApplyMomentum: grad is [3], expected [2")
      << graph_.status();
  Graph other;
  GraphScope scope(other);
  EXPECT_FALSE(
      ApplyUpdate(*FindUpdateOp("ApplyGradientDescent"), {Ones({2}), Constant(0.1), Ones({2})})[0]
          .valid());
  EXPECT_THAT(
      other.status(),
      ErrorIs("ApplyGradientDescent: alpha is float64, var is float32: Cast it (f32 [2] and f64 [] "
              "and f32 [2])"));
}

TEST_F(OptimizerOpsTest, FtrlOfAnotherFormulaIsRefused) {
  const Tensor ones = Ones({2}), c = C(0.1);
  AddOpN("ApplyFtrl", 3, {ones, ones, ones, ones, c, c, c, c}, {{"multiply_linear_by_lr", true}},
         "ftrl");
  EXPECT_THAT(graph_.status(), StatusIs(absl::StatusCode::kUnimplemented));
}

}  // namespace
}  // namespace estimator
