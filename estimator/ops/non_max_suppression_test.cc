#include "estimator/ops/non_max_suppression.h"

#include <string>

#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Box 1 covers 2/3 of the union with box 0; box 2 is apart. Boxes 0 and 3 are the same.
Tensor Boxes() {
  return Constant(
      {4, 4}, {0.f, 0.f, 1.f, 1.f, 0.f, 0.f, 1.f, 1.5f, 0.f, 2.f, 1.f, 3.f, 0.f, 0.f, 1.f, 1.f});
}

TEST(NonMaxSuppression, LeavesOutWhatOverlapsABetterBox) {
  Graph graph;
  const GraphScope scope(graph);
  const Tensor scores = Constant({0.5f, 0.9f, 0.2f, 0.5f});
  const NonMaxSuppressionResult strict =
      NonMaxSuppressionWithScores(Boxes(), scores, 4, {.iou_threshold = 0.6});
  EXPECT_THAT(testing::Doubles(strict.selected_indices), ElementsAre(1, 2, 0, 0));
  EXPECT_THAT(testing::Doubles(strict.num_valid), ElementsAre(2));
  // Of equal scores the first box is chosen.
  const NonMaxSuppressionResult lax = NonMaxSuppressionWithScores(
      Boxes(), scores, 4, {.iou_threshold = 0.7, .score_threshold = 0.3});
  EXPECT_THAT(testing::Doubles(lax.selected_indices), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(testing::Doubles(lax.selected_scores), ElementsAre(0.9f, 0.5f, 0, 0));
  EXPECT_THAT(testing::Doubles(lax.num_valid), ElementsAre(2));
}

TEST(NonMaxSuppression, RefusesThresholdsAndShapesThatAreNoBoxes) {
  Graph graph;
  const GraphScope scope(graph);
  const NonMaxSuppressionResult result =
      NonMaxSuppressionWithScores(Boxes(), Zeros({4}), 2, {.iou_threshold = 1.5});
  EXPECT_THAT(std::string(testing::Eval(result.num_valid).status().message()),
              HasSubstr("iou_threshold is 1.5, must be in [0, 1]"));
  EXPECT_THAT(testing::ErrorOf([] {
                NonMaxSuppressionWithScores(Zeros({4, 3}), Zeros({4}), 2);
              }),
              HasSubstr("takes boxes [N,4] and scores [N], not [4,3] and [4]"));
  EXPECT_THAT(testing::ErrorOf([] {
                NonMaxSuppressionWithScores(Zeros({4, 4}), Zeros({4}), -1);
              }),
              HasSubstr("must be from 0"));
  EXPECT_THAT(testing::ErrorOf([] {
                CombinedNonMaxSuppression(Zeros({2, 5, 2, 4}), Zeros({2, 5, 3}), 2, 2);
              }),
              HasSubstr("where q is 1 or C"));
}

}  // namespace
}  // namespace estimator
