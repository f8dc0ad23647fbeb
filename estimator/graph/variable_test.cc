#include "estimator/graph/variable.h"

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

Tensor Zeros(const Shape& shape, DType dtype) {
  return Graph::Current().AddOp("Const", {}, {{"value", Array(dtype, shape)}, {"dtype", dtype}},
                                "zeros");
}

class VariableTest : public GraphTest {
 protected:
  Variable Get(absl::string_view name, const Shape& shape = {2}) {
    return GetVariable(name, shape, {.initializer = Zeros});
  }
};

TEST_F(VariableTest, NodesHaveTensorFlowsNames) {
  const VariableScope scope("conv2d");
  EXPECT_EQ(Get("kernel").name(), "conv2d/kernel");
  for (const char* name : {"conv2d/kernel", "conv2d/kernel/read", "conv2d/kernel/Assign",
                           "conv2d/kernel/Initializer/zeros"}) {
    EXPECT_NE(graph_.FindNode(name), nullptr) << name;
  }
}

TEST_F(VariableTest, DefaultScopeNamesCountUpAndRestartInsideAReusedScope) {
  const auto layer = [&] {
    const VariableScope scope(VariableScope::UniqueDefaultName("dense"));
    return Get("kernel").name();
  };
  EXPECT_EQ(layer(), "dense/kernel");
  EXPECT_EQ(layer(), "dense_1/kernel");
  {
    const VariableScope model("model");
    EXPECT_EQ(layer(), "model/dense/kernel");
    EXPECT_EQ(layer(), "model/dense_1/kernel");
  }
  const VariableScope again("model", {.reuse = Reuse::kTrue});
  EXPECT_EQ(layer(), "model/dense/kernel");
  EXPECT_EQ(layer(), "model/dense_1/kernel");
  EST_EXPECT_OK(graph_.status());
  EXPECT_EQ(graph_.variables().size(), 4u);
}

// The line of code that the error for a repeated name advises.
constexpr char kAdvice[] =
    "const VariableScope shared(GetVariableScope(), {.reuse = Reuse::kAuto});";

TEST_F(VariableTest, AskingTwiceWithoutReuseNamesTheCure) {
  Get("w");
  EXPECT_FALSE(Get("w").valid());
  EXPECT_THAT(graph_.status(), ErrorHas(kAdvice));
}

// "open its VariableScope with .reuse = Reuse::kTrue" made `/w` at the root.
TEST_F(VariableTest, TheAdviceForARepeatedNameSharesAtTheRootAndInsideAScope) {
  const auto layer = [&] {
    const VariableScope scope("tower");
    return Get("kernel");
  };
  const Variable root = Get("w"), tower = layer();
  {
    const VariableScope model("model");
    const Variable inner = Get("w");
    const VariableScope shared(GetVariableScope(), {.reuse = Reuse::kAuto});
    EXPECT_EQ(Get("w").node(), inner.node());
  }
  const VariableScope shared(GetVariableScope(), {.reuse = Reuse::kAuto});
  EXPECT_EQ(Get("w").node(), root.node());
  EXPECT_EQ(layer().node(), tower.node());
  EXPECT_EQ(Get("new").name(), "new");
  EST_EXPECT_OK(graph_.status());
  EXPECT_EQ(graph_.variables().size(), 4u);
}

// The names of the tests below are those that TensorFlow 2.15.1 gives.

TEST_F(VariableTest, AnEmptyScopeAtTheRootAddsNoSlash) {
  const auto layer = [&] {
    const VariableScope root("", {.reuse = Reuse::kAuto});
    const VariableScope scope(VariableScope::UniqueDefaultName("dense"));
    return Get("kernel").name() + " " + scope.prefix() + " " + graph_.name_scope();
  };
  EXPECT_EQ(layer(), "dense/kernel dense/ dense/");
  EXPECT_EQ(layer(), "dense_1/kernel dense_1/ dense_1/");  // "" does not reset the counts
  const VariableScope a("a");
  const VariableScope empty("");
  EXPECT_EQ(Get("w").name(), "a//w");
  EXPECT_EQ(graph_.name_scope(), "a/");
}

TEST_F(VariableTest, OpeningTheCurrentScopeTwiceSharesLayersWithDefaultNames) {
  const auto layer = [&] {
    const VariableScope root(GetVariableScope(), {.reuse = Reuse::kAuto});
    const VariableScope scope(VariableScope::UniqueDefaultName("dense"));
    EXPECT_EQ(Get("kernel").name(), "dense/kernel");
    return graph_.name_scope();
  };
  EXPECT_EQ(layer(), "dense/");
  EXPECT_EQ(layer(), "dense_1/");
  EXPECT_EQ(graph_.variables().size(), 1u);
}

TEST_F(VariableTest, ACapturedScopeOpensAgainInsideAnotherOne) {
  CapturedVariableScope captured;
  {
    const VariableScope a("a", {.initializer = Zeros});
    const VariableScope b("b");
    captured = GetVariableScope();
    Get("w");
  }
  EXPECT_EQ(captured.name, "a/b");
  EXPECT_EQ(captured.original_name_scope, "a/b/");
  {
    const VariableScope c("c", {.reuse = Reuse::kAuto});
    const VariableScope again(captured, {.reuse = Reuse::kTrue});
    EXPECT_EQ(Get("w").name(), "a/b/w");
    EXPECT_EQ(graph_.name_scope(), "c/b/");
    EXPECT_TRUE(GetVariableScope().initializer);
  }
  {
    const VariableScope c("c", {.reuse = Reuse::kAuto});
    const VariableScope again(captured);
    EXPECT_EQ(GetVariableScope().reuse, Reuse::kFalse);  // that of a/b, not of c
  }
  const VariableScope names_as_before(captured, {.auxiliary_name_scope = false});
  EXPECT_EQ(graph_.name_scope(), "");
  const NameScope original(captured.original_name_scope);
  EXPECT_EQ(graph_.name_scope(), "a/b/");
}

TEST_F(VariableTest, ReuseIsInheritedAndTheInnerValueCounts) {
  {
    const VariableScope outer("a", {.reuse = Reuse::kAuto});
    const VariableScope inner("b", {.reuse = Reuse::kFalse});
    EXPECT_EQ(GetVariableScope().reuse, Reuse::kAuto);
  }
  const VariableScope outer("a", {.reuse = Reuse::kTrue});
  const VariableScope inner("b", {.reuse = Reuse::kAuto});
  EXPECT_EQ(GetVariableScope().reuse, Reuse::kAuto);
}

TEST_F(VariableTest, ReuseVariablesLastsUntilTheScopeCloses) {
  {
    const VariableScope scope("a");
    const Variable w = Get("w");
    ReuseVariables();
    EXPECT_EQ(Get("w").node(), w.node());
  }
  EXPECT_EQ(Get("w").name(), "w");
  EST_EXPECT_OK(graph_.status());
}

TEST_F(VariableTest, ReusingWhatIsNotThereNamesTheNearest) {
  Get("kernel");
  const VariableScope scope("", {.reuse = Reuse::kTrue});
  Get("kernal");
  EXPECT_THAT(graph_.status(), ErrorHas("did you mean 'kernel'? Reuse::kAuto would create it"));
}

TEST_F(VariableTest, AnotherShapeOnReuseIsRefused) {
  {
    const VariableScope scope("a");
    Get("w", {2});
  }
  const VariableScope scope("a", {.reuse = Reuse::kAuto});
  Get("w", {3});
  EXPECT_THAT(graph_.status(), ErrorHas("f32 [2], but this call asks for f32 [3]"));
}

TEST_F(VariableTest, AssignChecksTheShape) {
  const Variable w = Get("w", {2});
  EXPECT_TRUE(Assign(w, w).valid());
  EXPECT_FALSE(Assign(w, Zeros({3}, DType::kFloat32)).valid());
  EXPECT_THAT(graph_.status(), ErrorHas("variable 'w' is f32 [2], its new value is f32 [3]"));
}

TEST_F(VariableTest, GroupsCollectEachAssignOnce) {
  const Variable a = Get("a"), b = Get("b");
  const Operation first = Assign(a, b), second = Assign(b, a);
  const Operation group = Group({first, Group({second, first})});
  EXPECT_EQ(CollectAssigns({group, first}).size(), 2u);
}

TEST_F(VariableTest, GlobalStepIsOneInt64ScalarOutsideEveryScope) {
  const VariableScope scope("model");
  const Variable step = GetOrCreateGlobalStep();
  EXPECT_EQ(step.name(), "global_step");
  EXPECT_EQ(step.spec(), (TensorSpec{DType::kInt64, Shape{}}));
  EXPECT_EQ(GetOrCreateGlobalStep().node(), step.node());
  EXPECT_TRUE(graph_.TrainableVariables().empty());
}

}  // namespace
}  // namespace estimator
