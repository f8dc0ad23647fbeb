// The rules about ops inside the bodies of loops and branches. gallery_test has the others.
#include "tpu/rules/graph_rules.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::tpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GraphRulesInBodies : public ::testing::Test {
 protected:
  // "rule where" of the findings for a model that predicts y.
  std::vector<std::string> Findings(const Tensor& y) {
    ModelSpec spec;
    spec.predictions = {{"y", y}};
    Report report;
    CheckGraphRules({.mode = Mode::kPredict, .graph = graph_, .spec = spec}, report);
    std::vector<std::string> findings;
    for (const Finding& finding : report.findings())
      findings.push_back(absl::StrCat(finding.rule->id, " ", finding.where));
    return findings;
  }
  static Tensor InLoop(const Tensor& x, const std::function<Tensor(const Tensor&)>& body,
                       const WhileLoopOptions& options = {}) {
    return WhileLoop([](const Tensors& v) { return Less(v[0], 3); },
                     [&body](const Tensors& v) {
                       return Tensors{v[0] + 1, body(v[1])};
                     },
                     {Constant(0), x}, options)[1];
  }
  // The rows of a table of `rows` rows with the numbers `ids`, one after the other.
  static Tensor Rows(const Tensor& ids, int64_t rows) {
    const Tensor table = Zeros({rows, 2});
    return MapFn([&table](const Tensor& id) { return Gather(table, id); }, ids);
  }

  Graph graph_;
  const GraphScope scope_{graph_};
  const Tensor x_ = Placeholder(DType::kFloat32, {2, 2}, "x");
};

TEST_F(GraphRulesInBodies, OpsThatATpuLacksAndItsDTypesAreFound) {
  EXPECT_THAT(Findings(InLoop(x_, [](const Tensor& v) { return Sin(v); })), IsEmpty());
  EXPECT_THAT(Findings(InLoop(x_, [](const Tensor& v) { return v * MatrixDeterminant(v); })),
              ElementsAre("host-only-op predict: while_1/MatrixDeterminant (MatrixDeterminant) "
                          "f32 []"));
  const auto wide = [](const Tensor& v) {
    return Cond(
        Greater(ReduceSum(v), 0.f),
        [&] { return Cast(Cast(v, DType::kFloat64, "wide"), DType::kFloat32); }, [&] { return v; });
  };
  EXPECT_THAT(Findings(InLoop(x_, wide)),
              ElementsAre("float64 predict: while_2/cond/wide (Cast) f64 [2,2]"));
}

TEST_F(GraphRulesInBodies, ALoopWithAGradientNeedsABound) {
  const auto gradient = [&](const WhileLoopOptions& options) {
    const Tensor y = InLoop(
        x_, [](const Tensor& v) { return Sin(v); }, options);
    return Findings(Gradients({ReduceSum(y)}, {x_})[0]);
  };
  const std::vector<std::string> found = gradient({});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0], ::testing::StartsWith("loop-without-bound predict: while (While) "));
  EXPECT_THAT(gradient({.maximum_iterations = 3}), IsEmpty());
}

TEST_F(GraphRulesInBodies, ASumOverTheCoresIsFound) {
  EXPECT_THAT(Findings(InLoop(x_, [](const Tensor& v) { return CrossReplicaSum(v); })),
              ElementsAre("sum-in-body predict: while/CrossReplicaSum (CrossReplicaSum) "
                          "f32 [2,2]"));
  EXPECT_THAT(Findings(CrossReplicaSum(InLoop(x_, [](const Tensor& v) { return v; }))), IsEmpty());
}

TEST_F(GraphRulesInBodies, AnIndexHasTheRangeOfWhatItStandsFor) {
  const Tensor ids = Placeholder(DType::kInt32, {4}, "ids");
  EXPECT_THAT(Findings(Rows(ids, 10)),
              ElementsAre("unchecked-index predict: map/GatherV2 (GatherV2) f32 [2]"));
  EXPECT_THAT(Findings(Rows(FloorMod(ids, 10), 10)), IsEmpty());
  EXPECT_THAT(Findings(Rows(FloorMod(ids, 11), 10)), ::testing::SizeIs(1));
  const Tensor best = ArgMax(x_, 1, {.output_type = DType::kInt32});
  const auto add_best = [&](const Tensor& v) { return v + Gather(x_, best); };
  EXPECT_THAT(Findings(InLoop(x_, add_best)), IsEmpty());
  // A counter is not of the input.
  const Tensor table = Zeros({3, 2});
  const Tensor counted = WhileLoop([](const Tensors& v) { return Less(v[0], 3); },
                                   [&](const Tensors& v) {
                                     return Tensors{v[0] + 1, v[1] + Gather(table, v[0])};
                                   },
                                   {Constant(0), x_})[1];
  EXPECT_THAT(Findings(counted), IsEmpty());
}

}  // namespace
}  // namespace estimator::tpu
