#include "estimator/ops/meshgrid.h"

#include "estimator/graph/testing/graph_fixture.h"
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

using MeshgridTest = GraphTest;

TEST_F(MeshgridTest, HasXAlongTheColumnsAndYAlongTheRows) {
  const auto grid = Meshgrid({Constant({1, 2, 3}), Constant({4, 5})});
  ASSERT_EQ(grid.size(), 2u);
  EXPECT_EQ(grid[0].shape(), (Shape{2, 3}));
  EXPECT_THAT(Doubles(grid[0]), ElementsAre(1, 2, 3, 1, 2, 3));
  EXPECT_THAT(Doubles(grid[1]), ElementsAre(4, 4, 4, 5, 5, 5));
}

TEST_F(MeshgridTest, OfMatrixIndicesKeepsTheOrderOfTheAxes) {
  const auto grid =
      Meshgrid({Constant({1, 2}), Constant({4, 5}), Constant({7, 8, 9})}, Indexing::kIJ);
  ASSERT_EQ(grid.size(), 3u);
  EXPECT_EQ(grid[2].shape(), (Shape{2, 2, 3}));
  EXPECT_THAT(Doubles(grid[0]), ElementsAre(1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2));
  EXPECT_THAT(Doubles(grid[2]), ElementsAre(7, 8, 9, 7, 8, 9, 7, 8, 9, 7, 8, 9));
  EXPECT_EQ(Meshgrid({Constant({1, 2, 3})})[0].shape(), Shape{3});
}

TEST_F(MeshgridTest, RefusesWhatIsNoVector) {
  EXPECT_THAT(ErrorOf([] {
                Meshgrid({Zeros({2}), Zeros({2, 2})});
              }),
              HasSubstr("meshgrid: takes vectors"));
}

}  // namespace
}  // namespace estimator
