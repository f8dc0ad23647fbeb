#include "estimator/ops/rearrange.h"

#include <string>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Blocks, MustDivideTheirAxes) {
  EXPECT_THAT(testing::ErrorOf([] {
                SpaceToDepth(Zeros({1, 4, 5, 1}), 2);
              }),
              HasSubstr("blocks of 2 do not divide f32 [1,4,5,1]"));
  EXPECT_THAT(testing::ErrorOf([] {
                SpaceToBatch(Zeros({1, 4, 5}), {2, 2}, {{0, 0}, {0, 0}});
              }),
              HasSubstr("the blocks do not divide f32 [1,4,5] with its paddings"));
  EXPECT_THAT(testing::ErrorOf([] {
                BatchToSpace(Zeros({3, 4}), {2}, {{0, 0}});
              }),
              HasSubstr("the blocks do not divide f32 [3,4]"));
  EXPECT_THAT(testing::ErrorOf([] {
                BatchToSpace(Zeros({2, 2}), {2}, {{3, 2}});
              }),
              HasSubstr("crops of 3 and 2 of 4 elements"));
}

TEST(Blocks, HaveTheGradientOfFiniteDifferences) {
  const auto moved = [](const std::vector<Tensor>& in) {
    return SpaceToBatch(in[0], {2, 3}, {{1, 0}, {0, 2}});
  };
  EST_EXPECT_OK(testing::CheckGradients(moved, {testing::Scrambled({1, 3, 4, 2}, -1, 1)}));
}

TEST(Roll, TakesAShiftForEachAxis) {
  EXPECT_THAT(testing::ErrorOf([] {
                Roll(Zeros({3}), {1, 2}, {0});
              }),
              HasSubstr("2 shifts for 1 axes"));
}

TEST(ReverseSequence, LeavesWhatIsAfterTheLength) {
  Graph graph;
  const GraphScope scope(graph);
  EXPECT_THAT(testing::Doubles(ReverseSequence(Constant({2, 3}, {1.f, 2.f, 3.f, 4.f, 5.f, 6.f}),
                                               Constant({2, 3}))),
              ElementsAre(2, 1, 3, 6, 5, 4));
}

TEST(ReverseSequence, RefusesLengthsThatTheSequencesDoNotHave) {
  Graph graph;
  const GraphScope scope(graph);
  for (const int length : {-1, 4}) {
    const Tensor y = ReverseSequence(Zeros({2, 3}), Constant({2, length}));
    EXPECT_THAT(std::string(testing::Eval(y).status().message()),
                HasSubstr("and the sequences have 3 steps"));
  }
  EXPECT_THAT(testing::ErrorOf([] {
                ReverseSequence(Zeros({2, 3}), Constant({1, 2, 3}));
              }),
              HasSubstr("expected int32 or int64 [2]"));
  EXPECT_THAT(testing::ErrorOf([] {
                ReverseSequence(Zeros({2, 3}), Constant({1, 2}), {.seq_axis = 0});
              }),
              HasSubstr("seq_dim and batch_dim are both 0"));
}

TEST(LocalResponseNormalization, HasTheGradientThatGraphsOfTensorFlowCompute) {
  const LocalResponseNormalizationOptions options = {
      .depth_radius = 1, .bias = 1.5, .alpha = 0.25, .beta = 0.75};
  const auto normalized = [&](const std::vector<Tensor>& in) {
    return LocalResponseNormalization(in[0], options);
  };
  EST_EXPECT_OK(
      testing::CheckGradients(normalized, {testing::Scrambled({1, 2, 1, 5}, -2, 2)}, 1e-5));
  EXPECT_THAT(testing::ErrorOf([] {
                LocalResponseNormalization(Zeros({2, 3}));
              }),
              HasSubstr("takes floating [N,H,W,C]"));
}

}  // namespace
}  // namespace estimator
