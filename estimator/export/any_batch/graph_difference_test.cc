#include "estimator/export/any_batch/graph_difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/random.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;
using Model = std::function<Tensor(const Tensor& x)>;  // of a placeholder x: f32 [3, 4]

// What GraphDifference says of two models; "" for nothing.
std::string Difference(const Model& a, const Model& b) {
  Graph left, right;
  const auto build = [](Graph& graph, const Model& model) {
    const GraphScope scope(graph);
    const Tensor y = model(Placeholder(DType::kFloat32, {3, 4}, "x"));
    EST_EXPECT_OK(graph.status());
    return y;
  };
  return GraphDifference({{build(left, a), build(right, b)}}).value_or("");
}

TEST(GraphDifferenceTest, TheSameModelHasNone) {
  const Model model = [](const Tensor& x) { return Multiply(Exp(x), Constant(2.0f)); };
  EXPECT_EQ(Difference(model, model), "");
}

TEST(GraphDifferenceTest, NamesAndUnusedNodesDoNotCount) {
  EXPECT_EQ(Difference([](const Tensor& x) { return Exp(x, "a"); },
                       [](const Tensor& x) {
                         Negate(x);
                         return Exp(x, "b");
                       }),
            "");
}

TEST(GraphDifferenceTest, ZerosAreTheSameAsAConstantAndAsAFill) {
  const Model constant = [](const Tensor& x) {
    return Concat({x, Constant(Array(DType::kFloat32, {3, 2}))}, 1);
  };
  const Model fill = [](const Tensor& x) { return Concat({x, Fill({3, 2}, Constant(0.0f))}, 1); };
  EXPECT_EQ(Difference(constant, fill), "");
  EXPECT_EQ(Difference(fill, constant), "");
  EXPECT_THAT(Difference(constant,
                         [](const Tensor& x) {
                           return Concat({x, Fill({3, 2}, Constant(1.0f))}, 1);
                         }),
              HasSubstr("(Fill) is in the place of 'Const' (Const)"));
}

TEST(GraphDifferenceTest, TheFirstOfSeveralDifferencesIsNamed) {
  EXPECT_THAT(Difference([](const Tensor& x) { return Exp(Reshape(x, {12}, "flat")); },
                         [](const Tensor& x) {
                           return Exp(Reshape(x, {6, 2}, "flat"));
                         }),
              HasSubstr("value of 'flat/shape' (Const) is"));
}

TEST(GraphDifferenceTest, AnotherOpAnotherInputAndAnotherSeedAreDifferences) {
  EXPECT_EQ(
      Difference([](const Tensor& x) { return Exp(x); }, [](const Tensor& x) { return Negate(x); }),
      "'Neg' (Neg) is in the place of 'Exp' (Exp)");
  EXPECT_NE(Difference([](const Tensor& x) { return Subtract(x, Exp(x)); },
                       [](const Tensor& x) { return Subtract(Exp(x), x); }),
            "");
  const auto random = [](int64_t seed) {
    return [seed](const Tensor& x) { return x + RandomUniform({3, 4}, {.seed = seed}); };
  };
  EXPECT_THAT(Difference(random(1), random(2)), HasSubstr("seed2 of"));
  EXPECT_EQ(Difference(random(1), random(1)), "");
}

}  // namespace
}  // namespace estimator
