#include "estimator/ops/scan.h"

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
using testing::Scrambled;
using Inputs = std::vector<Tensor>;

using CumsumTest = GraphTest;
using MatrixBandPartTest = GraphTest;

TEST_F(CumsumTest, SumsForwardBackwardAndExclusive) {
  const Tensor x = Constant({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Doubles(Cumsum(x, 1)), ElementsAre(1, 3, 6, 4, 9, 15));
  EXPECT_THAT(Doubles(Cumsum(x)), ElementsAre(1, 2, 3, 5, 7, 9));
  EXPECT_THAT(Doubles(Cumsum(x, 1, {.exclusive = true})), ElementsAre(0, 1, 3, 0, 4, 9));
  EXPECT_THAT(Doubles(Cumsum(x, -1, {.reverse = true})), ElementsAre(6, 5, 3, 15, 11, 6));
  EXPECT_THAT(Doubles(Cumsum(x, -1, {.exclusive = true, .reverse = true})),
              ElementsAre(5, 3, 0, 11, 6, 0));
  EXPECT_THAT(ErrorOf([] { Cumsum(Zeros({2}), 1); }), HasSubstr("axis 1"));
  EXPECT_THAT(ErrorOf([] { Cumsum(Constant({true})); }), HasSubstr("bool"));
}

TEST_F(CumsumTest, IntegersWrapAround) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  const Tensor x = Constant(Array::Of<int32_t>({3}, {kMost, 2, kMost}));
  EXPECT_THAT(Doubles(Cumsum(x)), ElementsAre(kMost, -2147483647, 0));
  EXPECT_THAT(Doubles(Cumprod(x)), ElementsAre(kMost, -2, 2));
}

TEST_F(MatrixBandPartTest, KeepsDiagonals) {
  const Tensor x = Constant({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_THAT(Doubles(MatrixBandPart(x, -1, 0)), ElementsAre(1, 0, 0, 4, 5, 0, 7, 8, 9));
  EXPECT_THAT(Doubles(MatrixBandPart(x, 0, 1)), ElementsAre(1, 2, 0, 0, 5, 6, 0, 0, 9));
  EXPECT_THAT(ErrorOf([] { MatrixBandPart(Zeros({3}), 0, 0); }), HasSubstr("f32 [3]"));
}

TEST(Scan, GradientsMatchFiniteDifferences) {
  const Array x = Scrambled({2, 3, 2}, -1, 1);
  for (const bool exclusive : {false, true}) {
    for (const bool reverse : {false, true}) {
      EXPECT_EQ(CheckGradients(
                    [=](const Inputs& in) {
                      return Cumsum(in[0], 1, {exclusive, reverse});
                    },
                    {x})
                    .ToString(),
                "OK");
    }
  }
  EXPECT_EQ(
      CheckGradients([](const Inputs& in) { return MatrixBandPart(in[0], 1, 0); }, {x}).ToString(),
      "OK");
}

}  // namespace
}  // namespace estimator
