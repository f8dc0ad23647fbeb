#include "estimator/graph/graph.h"

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

Tensor Const(Graph& graph, float value) {
  return graph.AddOp("Const", {}, {{"value", Array::Scalar(value)}, {"dtype", DType::kFloat32}});
}
Tensor Fed(Graph& graph, const Shape& shape) {
  return graph.AddOp("Placeholder", {}, {{"dtype", DType::kFloat32}, {"shape", shape}});
}

TEST(GraphNames, AreMadeUniqueAsTensorFlowDoes) {
  Graph graph;
  EXPECT_EQ(graph.UniqueName("a"), "a");
  EXPECT_EQ(graph.UniqueName("a"), "a_1");
  EXPECT_EQ(graph.UniqueName("A"), "A_2");  // unique without regard to case
  EXPECT_EQ(graph.UniqueName("a_1"), "a_1_1");
  EXPECT_EQ(graph.UniqueName("exact/"), "exact");
}

TEST(GraphNames, ScopesNestAndEnd) {
  Graph graph;
  {
    const NameScope outer("outer", graph);
    EXPECT_EQ(Const(graph, 1).name(), "outer/Const:0");
    const NameScope inner("inner", graph);
    EXPECT_EQ(inner.prefix(), "outer/inner/");
  }
  const NameScope again("outer", graph);
  EXPECT_EQ(again.prefix(), "outer_1/");
  EXPECT_EQ(graph.FindTensor("outer/Const:0").dtype(), DType::kFloat32);
  EXPECT_FALSE(graph.FindTensor("outer/Const:1").valid());
}

TEST(GraphErrors, TheFirstOneIsKeptWithNameAndShapes) {
  Graph graph;
  const NameScope scope("layer", graph);
  const Tensor bad = graph.AddOp("Mul", {Fed(graph, {2, 3}), Fed(graph, {4})});
  EXPECT_FALSE(bad.valid());
  const Tensor worse = graph.AddOp("Mul", {bad, bad});
  EXPECT_FALSE(worse.valid());
  EXPECT_THAT(graph.status(), ErrorIs("layer/Mul: the inputs differ (f32 [2,3] and f32 [4])"));
}

TEST(GraphErrors, AnUnknownOpNamesTheNearest) {
  Graph graph;
  graph.AddOp("Identitty", {Const(graph, 1)});
  EXPECT_THAT(graph.status(),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("did you mean 'Identity'?")));
}

TEST(GraphErrors, TensorsOfAnotherGraphAreRefused) {
  Graph a, b;
  b.AddOp("Identity", {Const(a, 1)});
  EST_EXPECT_OK(a.status());
  EXPECT_THAT(b.status(), ErrorHas("another graph"));
}

// The new nodes need `b`, which is younger than the node that reads `a`.
TEST(GraphInputs, AreReplacedAndNodesSorted) {
  Graph graph;
  const Tensor a = Const(graph, 3);
  const Tensor old = graph.AddOp("Mul", {a, a});
  const Tensor b = graph.AddOp("Mul", {a, Const(graph, 4)}, {}, "b");
  const Tensor product = graph.AddOp("Mul", {a, b});
  EXPECT_EQ(graph.ReplaceInputs({{a, product}}), 2) << "b and product need a itself";
  EXPECT_EQ(ConstantValue(product)->AsDouble(), 36);
  EXPECT_EQ(ConstantValue(old)->AsDouble(), 36 * 36);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    EXPECT_EQ(graph.nodes()[i]->id(), static_cast<int>(i));
    for (const Tensor& input : graph.nodes()[i]->inputs())
      EXPECT_LT(input.node()->id(), static_cast<int>(i)) << graph.nodes()[i]->name();
  }
}

TEST(ConstantValue, FoldsWhatIsConstantAndNothingElse) {
  Graph graph;
  const Tensor product = graph.AddOp("Mul", {Const(graph, 3), Const(graph, 4)});
  EXPECT_EQ(ConstantValue(product)->AsDouble(), 12);
  EXPECT_FALSE(ConstantValue(graph.AddOp("Mul", {product, Fed(graph, {})})).has_value());
}

TEST(GraphSeeds, FollowTensorFlowsRule) {
  Graph graph;
  EXPECT_EQ(graph.OpSeeds(5), (std::pair<int64_t, int64_t>(87654321, 5)));
  graph.set_seed(7);
  EXPECT_EQ(graph.OpSeeds(5), (std::pair<int64_t, int64_t>(7, 5)));
  // Ops without a seed of their own are counted; ops between them are not.
  EXPECT_EQ(graph.OpSeeds(std::nullopt), (std::pair<int64_t, int64_t>(7, 0)));
  Const(graph, 0);
  EXPECT_EQ(graph.OpSeeds(std::nullopt), (std::pair<int64_t, int64_t>(7, 1)));
  EXPECT_EQ(graph.OpSeeds((int64_t{1} << 31) + 3), (std::pair<int64_t, int64_t>(7, 4)));
  EXPECT_EQ(graph.OpSeeds(-1), (std::pair<int64_t, int64_t>(7, 2147483646)));
  graph.set_seed(0);
  EXPECT_EQ(graph.OpSeeds(0), (std::pair<int64_t, int64_t>(0, 2147483647)));
}

using GraphTest = GraphTest;

TEST_F(GraphTest, ASizeThatThereIsNotIsAnErrorNotACrash) {
  EXPECT_EQ(Tensor(&graph_, nullptr, 0).dim(-1), 1);
  EST_EXPECT_OK(graph_.status()) << "whoever made the handle invalid has said why";
  const Tensor scalar =
      graph_.AddOp("Const", {}, {{"value", Array::Scalar(1.0f)}, {"dtype", DType::kFloat32}}, "x");
  EXPECT_EQ(scalar.dim(1), 1);
  EXPECT_THAT(graph_.status(), ErrorIs("there is no axis 1 in 'x:0', f32 []"));
}

}  // namespace
}  // namespace estimator
