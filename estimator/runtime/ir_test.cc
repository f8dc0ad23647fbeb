#include "estimator/runtime/ir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace estimator::ir {
namespace {

using ::testing::ElementsAre;

Node Op(const std::string& op, std::vector<Value> inputs) {
  Node node;
  node.op = op;
  node.name = op;
  node.inputs = std::move(inputs);
  node.outputs = {{DType::kFloat32, {2}}};
  return node;
}

std::vector<std::string> Ops(const Module& module) {
  std::vector<std::string> ops;
  for (const Node& node : module.nodes) ops.push_back(node.op);
  return ops;
}

TEST(Compact, DropsTheDeadAndSortsTheRest) {
  Module module;
  module.nodes = {Op("Last", {{3, 0}}), Op("Dead", {}), Op("First", {}),
                  Op("Middle", {{2, 0}, {2, 0}})};
  module.fetches = {{0, 0}};
  Compact(module);
  EXPECT_THAT(Ops(module), ElementsAre("First", "Middle", "Last"));
  EXPECT_EQ(module.fetches[0], (Value{2, 0}));
  EXPECT_THAT(module.nodes[1].inputs, ElementsAre(Value{0, 0}, Value{0, 0}));
}

TEST(Compact, KeepsTheOrderWhereItMay) {
  Module module;
  module.nodes = {Op("A", {}), Op("B", {}), Op("C", {{0, 0}}), Op("D", {{1, 0}})};
  module.fetches = {{3, 0}, {2, 0}};
  Compact(module);
  EXPECT_THAT(Ops(module), ElementsAre("A", "B", "C", "D"));
}

TEST(ReplaceUses, FollowsChains) {
  Module module;
  module.nodes = {Op("A", {}), Op("B", {{0, 0}}), Op("C", {{1, 0}}), Op("D", {{2, 0}})};
  module.fetches = {{2, 0}};
  module.updates = {{0, {2, 0}, "update"}};
  ReplaceUses(module, {{}, {{0, 0}}, {{1, 0}}, {}});
  EXPECT_EQ(module.nodes[3].inputs[0], (Value{0, 0}));
  EXPECT_EQ(module.fetches[0], (Value{0, 0}));
  EXPECT_EQ(module.updates[0].value, (Value{0, 0}));
}

TEST(Readers, FetchesAndUpdatesCount) {
  Module module;
  module.nodes = {Op("A", {}), Op("B", {{0, 0}}), Op("C", {{1, 0}})};
  module.fetches = {{1, 0}};
  EXPECT_EQ(Readers(module), (std::vector<std::vector<int>>{{1}, {2, -1}, {}}));
}

TEST(Root, SeesThroughViews) {
  Module module;
  module.nodes = {Op("A", {}), MakeReshape({0, 0}, {DType::kFloat32, {2, 1}}, "r"),
                  Op("Identity", {{1, 0}})};
  EXPECT_EQ(Root(module, {2, 0}), (Value{0, 0}));
}

TEST(SpecOf, ConstantsAreSeenThroughViewsInTheViewsShape) {
  Module module;
  module.nodes = {MakeConstant(Array::Of<float>({2}, {1, 2}), "c"),
                  MakeReshape({0, 0}, {DType::kFloat32, {2, 1}}, "r"), Op("Exp", {{1, 0}})};
  const KernelSpec spec = SpecOf(module, module.nodes[2]);
  ASSERT_TRUE(spec.constants[0].has_value());
  EXPECT_EQ(spec.constants[0]->shape(), (Shape{2, 1}));
}

TEST(SpecOf, HasWhatHoldsForTheWholeModule) {
  Module module;
  module.nodes = {MakeConstant(Array::Of<float>({2}, {1, 2}), "c"), Op("Exp", {{0, 0}})};
  module.conv_algorithm = ConvAlgorithm::kDirect;
  module.compute_dtype = DType::kBfloat16;
  const KernelSpec spec = SpecOf(module, module.nodes[1]);
  EXPECT_EQ(spec.conv_algorithm, ConvAlgorithm::kDirect);
  EXPECT_EQ(spec.compute_dtype, DType::kBfloat16);
}

TEST(ToString, NamesValuesAndUpdates) {
  Module module;
  module.nodes = {Op("A", {}), Op("B", {{0, 0}})};
  module.variables = {{"w", {DType::kFloat32, {2}}}};
  module.fetches = {{0, 0}};
  module.updates = {{0, {1, 0}, "update"}};
  EXPECT_EQ(ToString(module),
            "%0 = A() : f32 [2]  # A\n%1 = B(%0) : f32 [2]  # B\nfetch %0\nw := %1\n");
}

}  // namespace
}  // namespace estimator::ir
