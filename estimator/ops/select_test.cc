#include "estimator/ops/select.h"

#include <vector>

#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using testing::Doubles;
using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::Scrambled;
using Inputs = std::vector<Tensor>;

TEST(Where, ChoosesWithBroadcasting) {
  Graph graph;
  const GraphScope scope(graph);
  const Tensor condition = Constant({2, 1}, {true, false});
  EXPECT_THAT(Doubles(Where(condition, Constant({1.0f, 2.0f}), -1)), ElementsAre(1, 2, -1, -1));
  EXPECT_THAT(Doubles(Where(condition, 0, Constant({1, 2}))), ElementsAre(0, 0, 1, 2));
}

TEST(Where, RefusesOtherTypes) {
  EXPECT_THAT(ErrorOf([] { Where(Constant(1), Constant(1), Constant(2)); }),
              HasSubstr("must be bool"));
  EXPECT_THAT(ErrorOf([] { Where(Constant(true), Constant(1), Constant(2.0f)); }),
              HasSubstr("int32 and float32"));
  EXPECT_THAT(ErrorOf([] {
                Where(Constant({true, true}), Zeros({3}), Zeros({3}));
              }),
              HasSubstr("[2]"));
}

TEST(Where, GradientMatchesFiniteDifferences) {
  const auto build = [](const Inputs& x) {
    return Where(Constant({2, 1}, {true, false}), x[0], x[1]);
  };
  EXPECT_EQ(CheckGradients(build, {Scrambled({2, 3}, 0, 1), Scrambled({3}, 1, 2)}).ToString(),
            "OK");
  EXPECT_EQ(CheckGradients(build, {Scrambled({3}, 0, 1), Scrambled({2, 1}, 1, 2)}).ToString(),
            "OK");
}

}  // namespace
}  // namespace estimator
