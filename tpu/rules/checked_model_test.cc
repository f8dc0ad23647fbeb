#include "tpu/rules/checked_model.h"

#include <algorithm>
#include <string>
#include <vector>

#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::tpu {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::StartsWith;

class ProgramNodesTest : public ::testing::Test {
 protected:
  ProgramNodes Of(const Tensor& prediction) {
    spec_.predictions = {{"y", prediction}};
    return ProgramNodes({.mode = Mode::kPredict, .graph = graph_, .spec = spec_});
  }
  static std::vector<std::string> Names(const ProgramNodes& program) {
    std::vector<std::string> names;
    for (const Node* node : program.all()) names.push_back(program.NameOf(*node));
    return names;
  }
  // The first node of that op.
  static const Node& Find(const ProgramNodes& program, const std::string& op) {
    const auto is_op = [&op](const Node* node) { return node->op() == op; };
    const auto found = std::find_if(program.all().begin(), program.all().end(), is_op);
    EXPECT_NE(found, program.all().end()) << op;
    return **found;
  }
  static Tensor ThreeTimes(const Tensor& x, const std::function<Tensor(const Tensors&)>& body) {
    return WhileLoop([](const Tensors& v) { return Less(v[0], 3); },
                     [&body](const Tensors& v) {
                       return Tensors{v[0] + 1, body(v)};
                     },
                     {Constant(0), x}, {.maximum_iterations = 3})[1];
  }

  Graph graph_;
  const GraphScope scope_{graph_};
  ModelSpec spec_;
  const Tensor x_ = Placeholder(DType::kFloat32, {2}, "x");
};

TEST_F(ProgramNodesTest, BodiesFollowTheirNodeAndHaveItsName) {
  Sin(x_, "unused");
  const ProgramNodes program = Of(ThreeTimes(x_, [](const Tensors& v) {
    return Cond(
        Greater(ReduceSum(v[1]), 0.f), [&] { return Sin(v[1]); }, [&] { return Cos(v[1]); });
  }));
  const std::vector<std::string> names = Names(program);
  EXPECT_THAT(names, Contains("x (Placeholder) f32 [2]"));
  EXPECT_THAT(names, Contains("while/Less (Less) bool []"));
  EXPECT_THAT(names, Contains("while/cond/Sin (Sin) f32 [2]"));
  EXPECT_THAT(names, Contains("while/cond/Cos (Cos) f32 [2]"));
  EXPECT_THAT(names, Not(Contains(StartsWith("unused"))));
  EXPECT_EQ(std::count_if(program.all().begin(), program.all().end(),
                          [](const Node* node) { return node->op() == "Placeholder"; }),
            1)
      << "parameters and captures are no ops";
  EXPECT_TRUE(program.IsInBody(Find(program, "Sin")));
  EXPECT_FALSE(program.IsInBody(Find(program, "While")));
}

TEST_F(ProgramNodesTest, TheBodiesOfAGradientAreGradients) {
  const Tensor y = ThreeTimes(x_, [](const Tensors& v) { return Sin(v[1]); });
  const ProgramNodes program = Of(Gradients({ReduceSum(y)}, {x_})[0]);
  EXPECT_FALSE(program.IsGradient(Find(program, "Sin")));
  EXPECT_TRUE(program.IsGradient(Find(program, "Cos")));
}

TEST_F(ProgramNodesTest, AValueOfABodyDependsOnTheInputThroughCapturesAndLoopVariables) {
  const Tensor table = Zeros({4, 2});
  const auto depends = [&](const Tensor& start, const std::function<Tensor(const Tensors&)>& id) {
    // The loop variables: a counter, and x, whose trips read a row of the table.
    const ProgramNodes program =
        Of(ThreeTimes(start, [&](const Tensors& v) { return v[1] + Gather(table, id(v)); }));
    return program.DependsOnInput(Find(program, "GatherV2").input(1));
  };
  const auto counter = [](const Tensors& v) { return v[0]; };
  const auto carried = [](const Tensors& v) { return Cast(ReduceSum(v[1]), DType::kInt32); };
  const auto captured = [&](const Tensors&) { return Cast(ReduceSum(x_), DType::kInt32); };
  EXPECT_FALSE(depends(x_, counter));
  EXPECT_TRUE(depends(x_, carried));
  EXPECT_TRUE(depends(Zeros({2}), captured));
  EXPECT_FALSE(depends(Zeros({2}), carried));
  const auto of_trip = [&](const Tensors& v) { return Cast(ReduceSum(v[1] + x_), DType::kInt32); };
  EXPECT_TRUE(depends(Zeros({2}), of_trip));
}

}  // namespace
}  // namespace estimator::tpu
