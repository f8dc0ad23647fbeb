#include "estimator/ops/case.h"

#include "estimator/graph/graph.h"
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

// A schedule as MobileNet's: the first boundary that is not passed counts.
Tensor Stage(float step) {
  const Tensor x = Constant(step);
  return Case(
      {{Less(x, 3), [] { return Constant(0.1f); }}, {Less(x, 7), [] { return Constant(0.2f); }}},
      [] { return Constant(0.3f); });
}

TEST(Case, TakesTheFirstThatHoldsElseTheDefault) {
  Graph graph;
  const GraphScope scope(graph);
  EXPECT_THAT(Doubles(Stage(2)), ElementsAre(0.1f));
  EXPECT_THAT(Doubles(Stage(5)), ElementsAre(0.2f));
  EXPECT_THAT(Doubles(Stage(9)), ElementsAre(0.3f));
  EXPECT_THAT(Doubles(Case({}, [] { return Constant(4.0f); })), ElementsAre(4));
}

TEST(Case, RefusesFunctionsOfDifferentTypes) {
  EXPECT_THAT(ErrorOf([] {
                Case({{Constant(true), [] { return Constant(1); }}}, [] { return Constant(1.0f); });
              }),
              HasSubstr("differ"));
}

}  // namespace
}  // namespace estimator
