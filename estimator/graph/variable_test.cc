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

TEST_F(VariableTest, AskingTwiceWithoutReuseNamesTheCure) {
  Get("w");
  EXPECT_FALSE(Get("w").valid());
  EXPECT_THAT(graph_.status(), ErrorHas("Reuse::kTrue"));
}

TEST_F(VariableTest, ReusingWhatIsNotThereNamesTheNearest) {
  Get("kernel");
  const VariableScope scope("", {.reuse = Reuse::kTrue});
  Get("kernal");
  EXPECT_THAT(graph_.status(), StatusIs(absl::StatusCode::kInvalidArgument));
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
