// Every activation of estimator/ops, forward and backward, runs on kernels that use all threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/kernels/kernel_list.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/bias.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/matmul.h"
#include "estimator/runtime/program.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using ActivationTiersTest = GraphTest;

const std::vector<std::pair<std::string, std::function<Tensor(const Tensor&)>>>& Activations() {
  static const auto& all =
      *new std::vector<std::pair<std::string, std::function<Tensor(const Tensor&)>>>{
          {"Relu", Relu},
          {"Relu6", Relu6},
          {"Elu", Elu},
          {"Selu", Selu},
          {"Softplus", Softplus},
          {"Softsign", Softsign},
          {"Sigmoid", Sigmoid},
          {"Tanh", Tanh},
          {"Swish", Swish},
          {"Gelu", Gelu},
          {"GeluApproximate", GeluApproximate},
          {"LeakyRelu", [](const Tensor& x) { return LeakyRelu(x); }},
      };
  return all;
}

TEST_F(ActivationTiersTest, NoInstructionIsOnTheReferenceTier) {
  for (const DType dtype : {DType::kFloat32, DType::kBfloat16}) {
    for (const auto& [name, activation] : Activations()) {
      const Tensor x = Placeholder(dtype, {64, 128}), dy = Placeholder(dtype, {64, 128});
      const Tensor y = activation(x);
      const ProgramSpec spec{
          .feeds = {x, dy}, .fetches = {y, Gradients({y}, {x}, {dy})[0]}, .updates = {}};
      // As chains, and each op by itself.
      for (const std::vector<std::string>& disabled :
           {std::vector<std::string>{}, {"fuse_elementwise"}}) {
        const auto program =
            Program::Compile(graph_, spec, {.disable_passes = disabled, .print_plan = true});
        EST_ASSERT_OK(program);
        EXPECT_THAT((*program)->Plan(), HasSubstr("fused")) << name;
        EXPECT_THAT((*program)->Plan(), Not(HasSubstr("reference"))) << name;
      }
    }
  }
}

TEST_F(ActivationTiersTest, AnActivationOfAnActivationIsOneInstruction) {
  const Tensor x = Placeholder(DType::kFloat32, {64, 128});
  Tensor y = x;
  for (const auto& [name, activation] : Activations()) y = activation(y);
  const auto program =
      Program::Compile(graph_, {.feeds = {x}, .fetches = {y}, .updates = {}}, {.print_plan = true});
  EST_ASSERT_OK(program);
  EXPECT_THAT((*program)->Plan(), HasSubstr("_FusedElementwise"));
  EXPECT_THAT((*program)->Plan(), HasSubstr(" 1 instructions"));
}

// The gradients of Softplus and Softsign read what the activation reads, so in training it is
// written before the activation. The products are those of gemm/, or of AMX or oneDNN, which have
// fewer activations.
TEST_F(ActivationTiersTest, ADenseLayerComputesItsActivation) {
  const Tensor x = Placeholder(DType::kFloat32, {256, 64}),
               dy = Placeholder(DType::kFloat32, {256, 1024}),
               bias = Placeholder(DType::kFloat32, {1024}),
               weights = Placeholder(DType::kFloat32, {64, 1024});
  for (const auto& [name, activation] : Activations()) {
    if (name == "Swish" || name == "Gelu" || name == "GeluApproximate") continue;  // several ops
    const Tensor y = activation(BiasAdd(MatMul(x, weights), bias));
    const auto native = NativeKernelOf(
        {.op = "MatMul",
         .name = "m",
         .inputs = {{DType::kFloat32, x.shape()}, {DType::kFloat32, weights.shape()}},
         .outputs = {{DType::kFloat32, y.shape()}}});
    const bool exact = name == "Relu" || name == "Relu6";  // all kernels have them
    const bool everywhere =
        exact || native == NativeKernel::kGemm || (name == "LeakyRelu" && !native.has_value());
    const bool reads_input = name == "Softplus" || name == "Softsign";
    for (const bool trains : {false, true}) {
      ProgramSpec spec{.feeds = {x, weights, bias}, .fetches = {y}, .updates = {}};
      if (trains) {
        spec.feeds.push_back(dy);
        spec.fetches.push_back(Gradients({y}, {weights}, {dy})[0]);
      }
      const auto program = Program::Compile(
          graph_, spec, {.disable_passes = {"fuse_elementwise"}, .print_plan = true});
      EST_ASSERT_OK(program);
      const std::string plan = (*program)->Plan();
      EXPECT_THAT(plan, HasSubstr("_FusedMatMul")) << name;
      const bool fused = everywhere && !(trains && reads_input);
      // An instruction's op, and the name of its node.
      EXPECT_EQ(plan.find("  " + name + "  " + name) == std::string::npos, fused) << plan;
    }
  }
}

}  // namespace
}  // namespace estimator
