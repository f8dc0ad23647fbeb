#include "estimator/ops/case.h"

#include <map>
#include <string>

#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/graph/variable.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::Doubles;
using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;
using ::testing::Pair;

// A schedule as MobileNet's: the first boundary that is not passed counts.
Tensor Stage(float step) {
  const Tensor x = Constant(step);
  return Case(
      {{Less(x, 3), [] { return Constant(0.1f); }}, {Less(x, 7), [] { return Constant(0.2f); }}},
      [] { return Constant(0.3f); });
}

using CaseTest = GraphTest;

TEST_F(CaseTest, TakesTheFirstThatHoldsElseTheDefault) {
  EXPECT_THAT(Doubles(Stage(2)), ElementsAre(0.1f));
  EXPECT_THAT(Doubles(Stage(5)), ElementsAre(0.2f));
  EXPECT_THAT(Doubles(Stage(9)), ElementsAre(0.3f));
  EXPECT_THAT(Doubles(Case({}, [] { return Constant(4.0f); })), ElementsAre(4));
}

Tensor Zero(const Shape& shape, DType dtype) { return Zeros(shape, dtype); }

// As TF 2.15 names them: the functions are called from the first to the last, the default last.
TEST_F(CaseTest, CallsTheFunctionsInOrderSoThatVariablesGetTensorFlowsNames) {
  std::map<std::string, std::string> names;
  const auto branch = [&names](const std::string& which) {
    return [&names, which]() -> Tensor {
      const VariableScope dense(VariableScope::UniqueDefaultName("dense"));
      const Variable bias = GetVariable("bias", {}, {.initializer = Zero});
      names[which] = bias.name();
      return bias;
    };
  };
  Case({{Constant(true), branch("A")}, {Constant(false), branch("B")}}, branch("C"));
  EXPECT_EQ(graph_.status().ToString(), "OK");
  EXPECT_THAT(names, ElementsAre(Pair("A", "dense/bias"), Pair("B", "dense_1/bias"),
                                 Pair("C", "dense_2/bias")));
}

TEST_F(CaseTest, RefusesFunctionsOfDifferentTypes) {
  EXPECT_THAT(ErrorOf([] {
                Case({{Constant(true), [] { return Constant(1); }}}, [] { return Constant(1.0f); });
              }),
              HasSubstr("differ"));
}

}  // namespace
}  // namespace estimator
