#include "estimator/ops/sort.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "estimator/graph/testing/graph_fixture.h"
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
using ::testing::IsNan;
using testing::Scrambled;

using ArgSortTest = GraphTest;
using SortTest = GraphTest;

// Numbers of TF 2.15 tf.argsort and tf.sort.
TEST_F(ArgSortTest, PutsTheLowerIndexOfEqualsFirstInBothDirections) {
  const Tensor x = Constant({2, 4}, {3.0f, 1.0f, 3.0f, -2.0f, 0.0f, 0.0f, 0.0f, 5.0f});
  EXPECT_THAT(Doubles(ArgSort(x)), ElementsAre(3, 1, 0, 2, 0, 1, 2, 3));
  EXPECT_THAT(Doubles(ArgSort(x, -1, {.direction = SortDirection::kDescending})),
              ElementsAre(0, 2, 1, 3, 3, 0, 1, 2));
  EXPECT_EQ(ArgSort(x).dtype(), DType::kInt32);
}

TEST_F(SortTest, WorksAlongAnyAxis) {
  const Tensor x = Constant({3, 2}, {3.0f, 1.0f, 2.0f, 7.0f, 5.0f, -1.0f});
  EXPECT_THAT(Doubles(Sort(x, 0)), ElementsAre(2, -1, 3, 1, 5, 7));
  EXPECT_THAT(Doubles(Sort(x, 0, {.direction = SortDirection::kDescending})),
              ElementsAre(5, 7, 3, 1, 2, -1));
  EXPECT_THAT(Doubles(ArgSort(x, -2)), ElementsAre(1, 2, 0, 0, 2, 1));
}

TEST_F(SortTest, PutsNaNLastInAscendingOrder) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = Constant({3.0f, nan, 1.0f, -nan, 2.0f});
  EXPECT_THAT(Doubles(ArgSort(x)), ElementsAre(3, 2, 4, 0, 1));
  EXPECT_THAT(Doubles(ArgSort(x, -1, {.direction = SortDirection::kDescending})),
              ElementsAre(1, 0, 4, 2, 3));
  EXPECT_THAT(Doubles(Sort(x)), ElementsAre(IsNan(), 1, 2, 3, IsNan()));
}

TEST_F(SortTest, OfIntegersDoesNotOverflow) {
  const int32_t lowest = std::numeric_limits<int32_t>::min();
  EXPECT_THAT(Doubles(Sort(Constant({4, lowest, -4}))), ElementsAre(lowest, -4, 4));
}

TEST_F(SortTest, GradientMatchesFiniteDifferences) {
  EXPECT_EQ(CheckGradients([](const std::vector<Tensor>& in) { return Sort(in[0], 1); },
                           {Scrambled({2, 3, 2}, -1, 1)})
                .ToString(),
            "OK");
}

TEST_F(SortTest, RefusesAnAxisThatIsNotThere) {
  EXPECT_THAT(ErrorOf([] { Sort(Zeros({2, 3}), 2); }), HasSubstr("sort: axis 2"));
}

}  // namespace
}  // namespace estimator
