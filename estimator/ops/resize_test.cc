#include "estimator/ops/resize.h"

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

TEST(Resize, OfAColumn) {
  Graph graph;
  const GraphScope scope(graph);
  const Tensor column = Constant({1, 2, 1, 1}, {0.f, 4.f});
  EXPECT_THAT(testing::Doubles(ResizeBilinear(column, {4, 1})), ElementsAre(0, 2, 4, 4));
  EXPECT_THAT(testing::Doubles(ResizeBilinear(column, {4, 1}, {.half_pixel_centers = true})),
              ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(testing::Doubles(ResizeNearestNeighbor(column, {3, 1})), ElementsAre(0, 0, 4));
  EXPECT_THAT(testing::Doubles(ResizeNearestNeighbor(column, {3, 1}, {.align_corners = true})),
              ElementsAre(0, 4, 4));
}

TEST(Resize, NearestNeighborsHaveTheGradientOfFiniteDifferences) {
  const auto resized = [](const std::vector<Tensor>& in) {
    return ResizeNearestNeighbor(in[0], {5, 2}, {.half_pixel_centers = true});
  };
  EST_EXPECT_OK(testing::CheckGradients(resized, {testing::Scrambled({2, 3, 4, 2}, -1, 1)}));
}

TEST(Resize, RefusesWhatIsNoImage) {
  EXPECT_THAT(testing::ErrorOf([] {
                ResizeBilinear(Zeros({3, 4, 5}), {2, 2});
              }),
              HasSubstr("images has rank 3, expected 4"));
  EXPECT_THAT(testing::ErrorOf([] {
                ResizeNearestNeighbor(Zeros({1, 3, 4, 1}), {0, 2});
              }),
              HasSubstr("sides must be from 1 to 16777216, got 3 x 4 and 0 x 2"));
  EXPECT_THAT(testing::ErrorOf([] {
                ResizeNearestNeighbor(Zeros({1, 3, 4, 1}), {2});
              }),
              HasSubstr("size has 1 numbers, expected 2"));
  EXPECT_THAT(testing::ErrorOf([] {
                ResizeBilinear(Zeros({1, 3, 4, 1}), {2, 2},
                               {.align_corners = true, .half_pixel_centers = true});
              }),
              HasSubstr("set one of them"));
}

}  // namespace
}  // namespace estimator
