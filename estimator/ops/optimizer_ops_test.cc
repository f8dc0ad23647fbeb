#include "estimator/ops/optimizer_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testdata/neural_ops/goldens.h"
#include "estimator/ops/testdata/neural_ops/pattern.h"
#include "estimator/ops/testing/eval.h"

namespace estimator {
namespace {

using goldens::Pattern;
using testing::EvalAll;

using State = std::vector<Tensor>;
// One step, from 0: the new state.
using Step = std::function<State(const State&, int t, const Tensor& grad)>;

class OptimizerOpsTest : public ::testing::Test {
 protected:
  static Tensor C(double value) { return Constant(static_cast<float>(value)); }

  // Two steps from the pattern, slots at one half, as generate.py runs them; all state, end to end.
  void ExpectSteps(size_t num_slots, const Step& step, const std::vector<float>& golden) {
    Array second = Pattern({6}, 4).Clone();
    for (float& g : second.values<float>()) g *= 2;
    State state{Constant(Pattern({6}, 1))};
    for (size_t i = 0; i < num_slots; ++i) state.push_back(Fill({6}, C(0.5)));
    state = step(state, 0, Constant(Pattern({6}, 3)));
    state = step(state, 1, Constant(second));
    const auto values = EvalAll(state);
    ASSERT_TRUE(values.ok()) << values.status();
    const Array expected = Array::FromSpan<float>({static_cast<int64_t>(golden.size())}, golden);
    EXPECT_EQ(Compare(Concatenate(*values), expected, goldens::kFloatTolerance).report, "");
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(OptimizerOpsTest, GradientDescentEqualsTensorFlows) {
  ExpectSteps(
      0,
      [](const State& s, int, const Tensor& g) -> State {
        return {ApplyGradientDescent(s[0], C(0.1), g)};
      },
      goldens::kApplyGradientDescent);
}

TEST_F(OptimizerOpsTest, MomentumEqualsTensorFlows) {
  for (const bool nesterov : {false, true}) {
    ExpectSteps(
        1,
        [&](const State& s, int, const Tensor& g) -> State {
          const VarAccum next = ApplyMomentum(s[0], s[1], C(0.1), g, C(0.9), nesterov);
          return {next.var, next.accum};
        },
        nesterov ? goldens::kApplyMomentumNesterov : goldens::kApplyMomentum);
  }
}

TEST_F(OptimizerOpsTest, AdamEqualsTensorFlows) {
  for (const bool nesterov : {false, true}) {
    ExpectSteps(
        2,
        [&](const State& s, int t, const Tensor& g) -> State {
          const AdamRates rates = {.beta1_power = C(std::pow(0.9, t + 1)),
                                   .beta2_power = C(std::pow(0.99, t + 1)),
                                   .lr = C(0.1),
                                   .beta1 = C(0.9),
                                   .beta2 = C(0.99),
                                   .epsilon = C(1e-3)};
          const AdamState next = ApplyAdam({s[0], s[1], s[2]}, rates, g, nesterov);
          return {next.var, next.m, next.v};
        },
        nesterov ? goldens::kApplyAdamNesterov : goldens::kApplyAdam);
  }
}

TEST_F(OptimizerOpsTest, RMSPropEqualsTensorFlows) {
  const RMSPropRates rates = {.lr = C(0.1), .rho = C(0.9), .momentum = C(0.5), .epsilon = C(1e-3)};
  ExpectSteps(
      2,
      [&](const State& s, int, const Tensor& g) -> State {
        const RMSPropState next = ApplyRMSProp({s[0], s[1], s[2]}, rates, g);
        return {next.var, next.ms, next.mom};
      },
      goldens::kApplyRMSProp);
  ExpectSteps(
      3,
      [&](const State& s, int, const Tensor& g) -> State {
        const CenteredRMSPropState next = ApplyCenteredRMSProp({s[0], s[1], s[2], s[3]}, rates, g);
        return {next.var, next.mg, next.ms, next.mom};
      },
      goldens::kApplyCenteredRMSProp);
}

TEST_F(OptimizerOpsTest, AdagradAndItsRelativesEqualTensorFlows) {
  ExpectSteps(
      1,
      [](const State& s, int, const Tensor& g) -> State {
        const VarAccum next = ApplyAdagrad(s[0], s[1], C(0.1), g);
        return {next.var, next.accum};
      },
      goldens::kApplyAdagrad);
  ExpectSteps(
      1,
      [](const State& s, int, const Tensor& g) -> State {
        const VarAccum next = ApplyProximalAdagrad(s[0], s[1], C(0.1), C(0.25), C(0.5), g);
        return {next.var, next.accum};
      },
      goldens::kApplyProximalAdagrad);
  ExpectSteps(
      2,
      [](const State& s, int, const Tensor& g) -> State {
        const AdadeltaState next = ApplyAdadelta({s[0], s[1], s[2]}, C(0.1), C(0.9), C(1e-3), g);
        return {next.var, next.accum, next.accum_update};
      },
      goldens::kApplyAdadelta);
}

TEST_F(OptimizerOpsTest, FtrlEqualsTensorFlowsForAnyPower) {
  for (const double power : {-0.5, -0.75}) {
    ExpectSteps(
        2,
        [&](const State& s, int, const Tensor& g) -> State {
          const FtrlState next =
              ApplyFtrl({s[0], s[1], s[2]}, g, {C(0.1), C(0.25), C(0.5), C(power)});
          return {next.var, next.accum, next.linear};
        },
        power == -0.5 ? goldens::kApplyFtrl : goldens::kApplyFtrlPower);
  }
}

TEST_F(OptimizerOpsTest, FtrlWithShrinkageEqualsTensorFlowsForAnyPower) {
  for (const double power : {-0.5, -0.75}) {
    ExpectSteps(
        2,
        [&](const State& s, int, const Tensor& g) -> State {
          const FtrlState next =
              ApplyFtrlV2({s[0], s[1], s[2]}, g, {C(0.1), C(0.25), C(0.5), C(power)}, C(0.3));
          return {next.var, next.accum, next.linear};
        },
        power == -0.5 ? goldens::kApplyFtrlV2 : goldens::kApplyFtrlV2Power);
  }
}

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
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ((*kernel)->AliasInput(0), 0);
  EXPECT_EQ((*kernel)->AliasInput(1), 1);
  float var[] = {1, 2}, accum[] = {0.5, -0.5}, lr = 0.5, grad[] = {1, 2}, momentum = 0.5;
  const void* inputs[] = {var, accum, &lr, grad, &momentum};
  void* outputs[] = {var, accum};
  ASSERT_TRUE((*kernel)->Run({.inputs = inputs, .outputs = outputs, .step = {}}).ok());
  // accum' = 1.25, 1.75; var' = var - 0.5 * (grad + 0.5 * accum').
  EXPECT_EQ(accum[0], 1.25f);
  EXPECT_EQ(accum[1], 1.75f);
  EXPECT_EQ(var[0], 0.1875f);
  EXPECT_EQ(var[1], 0.5625f);
}

TEST_F(OptimizerOpsTest, AnOperandOfAnotherShapeOrTypeIsNamed) {
  EXPECT_FALSE(ApplyMomentum(Ones({2}), Ones({2}), C(0.1), Ones({3}), C(0.9)).var.valid());
  EXPECT_EQ(graph_.status().message().substr(0, 39), "ApplyMomentum: grad is [3], expected [2")
      << graph_.status();
  Graph other;
  GraphScope scope(other);
  EXPECT_FALSE(ApplyGradientDescent(Ones({2}), Constant(0.1), Ones({2})).valid());
  EXPECT_EQ(other.status().message(),
            "ApplyGradientDescent: alpha is float64, var is float32: Cast it (f32 [2] and f64 [] "
            "and f32 [2])");
}

TEST_F(OptimizerOpsTest, FtrlOfAnotherFormulaIsRefused) {
  const Tensor ones = Ones({2}), c = C(0.1);
  AddOpN("ApplyFtrl", 3, {ones, ones, ones, ones, c, c, c, c}, {{"multiply_linear_by_lr", true}},
         "ftrl");
  EXPECT_EQ(graph_.status().code(), absl::StatusCode::kUnimplemented) << graph_.status();
}

}  // namespace
}  // namespace estimator
