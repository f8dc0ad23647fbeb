#include "estimator/kernels/fused_ops.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "estimator/op_def/op_def.h"

namespace estimator {
namespace {

using fused::TileOp;

KernelSpec Spec(const std::vector<std::string>& ops, size_t inputs) {
  KernelSpec spec{.op = "_FusedMatMul", .name = "m", .attrs = {{"fused_ops", ops}}};
  spec.inputs.resize(inputs);
  return spec;
}

TEST(FusedOps, APlainProductHasTwoInputs) {
  KernelSpec spec{.op = "MatMul", .name = "m"};
  spec.inputs.resize(2);
  const auto fused = FusedOpsOf(spec);
  ASSERT_TRUE(fused.has_value());
  EXPECT_FALSE(fused->bias || fused->side || fused->activation.has_value());
  spec.inputs.resize(3);
  EXPECT_FALSE(FusedOpsOf(spec).has_value());
}

TEST(FusedOps, InputsAreTheBiasAndTheSideInput) {
  const auto bias = FusedOpsOf(Spec({"BiasAdd"}, 3));
  ASSERT_TRUE(bias.has_value());
  EXPECT_TRUE(bias->bias);
  EXPECT_FALSE(bias->side);
  const auto side = FusedOpsOf(Spec({"BiasAdd", "Relu6"}, 4));
  ASSERT_TRUE(side.has_value());
  EXPECT_TRUE(side->bias && side->side);
  EXPECT_EQ(side->activation, TileOp::kRelu6);
  EXPECT_FALSE(FusedOpsOf(Spec({"BiasAdd"}, 2)).has_value());
  EXPECT_FALSE(FusedOpsOf(Spec({"BiasAdd"}, 5)).has_value());
}

TEST(FusedOps, EveryOpWithTheTraitIsAnActivation) {
  int activations = 0;
  for (const OpDef* row : OpDefs()) {
    const std::string op = row->name;
    KernelSpec spec = Spec({"BiasAdd", op}, 3);
    spec.attrs.Set("leakyrelu_alpha", 0.25f);
    const auto fused = FusedOpsOf(spec);
    EXPECT_EQ(fused.has_value(), TraitsOf(op).activation) << op;
    if (!fused.has_value()) continue;
    ++activations;
    EXPECT_EQ(fused->alpha, op == "LeakyRelu" ? 0.25f : 0.0f) << op;
  }
  EXPECT_EQ(activations, 9);
}

TEST(FusedOps, OtherListsAreRefused) {
  for (const std::vector<std::string>& ops :
       {std::vector<std::string>{"Relu"}, std::vector<std::string>{"BiasAdd", "Square"},
        std::vector<std::string>{"BiasAdd", "ReluGrad"},
        std::vector<std::string>{"BiasAdd", "LeakyRelu"},  // without its alpha
        std::vector<std::string>{"BiasAdd", "Relu", "Relu"}}) {
    EXPECT_FALSE(FusedOpsOf(Spec(ops, 3)).has_value()) << ops.back();
  }
}

}  // namespace
}  // namespace estimator
