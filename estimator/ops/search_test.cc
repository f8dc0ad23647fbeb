#include "estimator/ops/search.h"

#include <limits>
#include <vector>

#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_unary.h"
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
using Inputs = std::vector<Tensor>;

TEST(ArgMax, FindsTheFirstOfTheLargest) {
  Graph graph;
  const GraphScope scope(graph);
  const Tensor x = Constant({2, 3}, {1.0f, 7.0f, 7.0f, 9.0f, -1.0f, 0.0f});
  EXPECT_THAT(Doubles(ArgMax(x, 1)), ElementsAre(1, 0));
  EXPECT_THAT(Doubles(ArgMax(x)), ElementsAre(1, 0, 0));
  EXPECT_THAT(Doubles(ArgMin(x, -1, {.output_type = DType::kInt32})), ElementsAre(0, 1));
  EXPECT_EQ(ArgMax(x, 1).dtype(), DType::kInt64);
  EXPECT_EQ(ArgMin(x, 1, {.output_type = DType::kInt32}).dtype(), DType::kInt32);
}

TEST(ArgMax, RefusesAxesThatAreNotThereOrEmpty) {
  EXPECT_THAT(ErrorOf([] { ArgMax(Zeros({2}), 1); }), HasSubstr("axis 1"));
  EXPECT_THAT(ErrorOf([] { ArgMax(Zeros({0, 2}), 0); }), HasSubstr("empty"));
  EXPECT_THAT(ErrorOf([] { ArgMax(Zeros({2}), 0, {.output_type = DType::kFloat32}); }),
              HasSubstr("float32"));
}

TEST(TopK, SortsFromTheLargestDown) {
  Graph graph;
  const GraphScope scope(graph);
  const TopKResult top =
      TopK(Constant({2, 4}, {1.0f, 5.0f, 3.0f, 5.0f, -1.0f, -4.0f, -2.0f, -3.0f}), 3);
  EXPECT_THAT(Doubles(top.values), ElementsAre(5, 5, 3, -1, -2, -3));
  EXPECT_THAT(Doubles(top.indices), ElementsAre(1, 3, 2, 0, 2, 3));
  EXPECT_THAT(ErrorOf([] { TopK(Zeros({2}), 3); }), HasSubstr("[0, 2]"));
}

// Numbers of TF 2.15 with jit_compile. Its CPU kernel gives 3, 2, NaN, 1, NaN for the first row.
TEST(TopK, OrdersNumbersAroundNaN) {
  Graph graph;
  const GraphScope scope(graph);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x = Constant({2, 5}, {2.0f, nan, 1.0f, 3.0f, nan, -nan, -inf, nan, inf, -nan});
  const std::vector<double> order = {1, 4, 3, 0, 2, 2, 3, 1, 0, 4};
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBfloat16, DType::kFloat16})
    EXPECT_EQ(Doubles(TopK(Cast(x, dtype), 5).indices), order) << DTypeName(dtype);
  EXPECT_THAT(Doubles(TopK(x, 2).indices), ElementsAre(1, 4, 2, 3));
  EXPECT_THAT(Doubles(TopK(x, 3).values), ElementsAre(IsNan(), IsNan(), 3, IsNan(), inf, -inf));
}

TEST(TopK, GradientMatchesFiniteDifferences) {
  EXPECT_EQ(CheckGradients([](const Inputs& in) { return TopK(in[0], 2).values; },
                           {Scrambled({2, 2, 4}, -1, 1)})
                .ToString(),
            "OK");
}

using InTopKTest = GraphTest;

TEST_F(InTopKTest, CountsHowManyAreLarger) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor predictions = Constant({5, 3}, {3.0f, 2.0f, 1.0f, 3.0f, 2.0f, 1.0f, 2.0f, 2.0f, 2.0f,
                                               1.0f, 2.0f, 3.0f, 1.0f, inf, 0.0f});
  // Second of three; third; all equal; a class that is not there; an infinite prediction.
  EXPECT_THAT(Doubles(InTopK(predictions, Constant({1, 2, 2, 3, 0}), 2)),
              ElementsAre(1, 0, 1, 0, 0));
  EXPECT_THAT(ErrorOf([] { InTopK(Zeros({2, 3}), Constant({1}), 1); }), HasSubstr("[2]"));
  EXPECT_THAT(ErrorOf([] {
                InTopK(Zeros({1, 3}, DType::kFloat64), Constant({1}), 1);
              }),
              HasSubstr("f64 [1,3]"));
}

}  // namespace
}  // namespace estimator
