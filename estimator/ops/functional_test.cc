#include "estimator/ops/functional.h"

#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/tensor_array.h"
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

using FunctionalTest = GraphTest;

Tensor Multiplied(const Tensor& acc, const Tensor& row) { return Multiply(acc, row); }
// Not symmetric, so that the direction shows.
Tensor Halved(const Tensor& acc, const Tensor& row) { return Add(Multiply(acc, 0.5), row); }

TEST_F(FunctionalTest, MapFnStacksTheResultsOfRows) {
  const Tensor x = Constant({2, 2}, {1.0, 2.0, 3.0, 4.0});
  EXPECT_THAT(Doubles(MapFn([](const Tensor& row) { return ReduceSum(row); }, x)),
              ElementsAre(3, 7));
  const Tensors two = MapFn(
      [](const Tensors& row) {
        return Tensors{Add(row[0], row[1]), Square(row[1])};
      },
      {Constant({1.0, 2.0}), Constant({10.0, 20.0})});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_THAT(Doubles(two[0]), ElementsAre(11, 22));
  EXPECT_THAT(Doubles(two[1]), ElementsAre(100, 400));
}

TEST_F(FunctionalTest, GradientsInsideOfMapFnAreThoseOfOneExample) {
  const Tensor w = Constant({1.0, 2.0});
  const Tensor x = Constant({3, 2}, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0});
  const Tensor each = MapFn(
      [&](const Tensor& row) {
        const Tensor loss = Square(ReduceSum(Multiply(row, w)));
        return Gradients({loss}, {w})[0];
      },
      x);
  // 2 (x w) x
  EXPECT_THAT(Doubles(each), ElementsAre(10, 20, 66, 88, 170, 204));
}

TEST_F(FunctionalTest, ScanReturnsEveryAccumulatedValue) {
  const Tensor x = Constant({1.0, 2.0, 3.0, 4.0});
  EXPECT_THAT(Doubles(Scan(Multiplied, x, Constant(1.0))), ElementsAre(1, 2, 6, 24));
  EXPECT_THAT(Doubles(Scan(Multiplied, x, Constant(1.0), {.reverse = true})),
              ElementsAre(24, 24, 12, 4));
}

TEST_F(FunctionalTest, FoldsRunFromTheFirstRowOrFromTheLast) {
  const Tensor x = Constant({1.0, 2.0, 4.0});
  EXPECT_THAT(Doubles(Foldl(Halved, x, Constant(0.0))), ElementsAre(5.25));
  EXPECT_THAT(Doubles(Foldr(Halved, x, Constant(0.0))), ElementsAre(3));
}

TEST_F(FunctionalTest, GradientsMatchFiniteDifferences) {
  const auto map = [](const Tensors& in) {
    return MapFn([&](const Tensor& row) { return Multiply(Sin(row), in[1]); }, in[0]);
  };
  EXPECT_THAT(CheckGradients(map, {Scrambled({3, 2}, -1, 1), Scrambled({2}, -1, 1)}), IsOk());
  for (const bool reverse : {false, true}) {
    const auto scan = [&](const Tensors& in) {
      return Scan(
          [&](const Tensor& acc, const Tensor& row) { return Add(Multiply(Sin(acc), row), in[2]); },
          in[0], in[1], {.reverse = reverse});
    };
    EXPECT_THAT(CheckGradients(scan, {Scrambled({4, 2}, -1, 1), Scrambled({2}, -1, 0.9),
                                      Scrambled({2}, -0.4, 1)}),
                IsOk());
    const auto fold = [&](const Tensors& in) {
      const auto fn = [](const Tensor& acc, const Tensor& row) {
        return Add(Multiply(acc, acc), row);
      };
      return reverse ? Foldr(fn, in[0], in[1]) : Foldl(fn, in[0], in[1]);
    };
    EXPECT_THAT(CheckGradients(fold, {Scrambled({3, 2}, -1, 1), Scrambled({2}, -1, 0.9)}), IsOk());
  }
}

TEST_F(FunctionalTest, RefusesElementsWithoutOrWithDifferentRows) {
  const auto id = [](const Tensors& row) { return row; };
  EXPECT_THAT(ErrorOf([&] {
                MapFn(id, {Constant({1.0, 2.0}), Constant({1.0})});
              }),
              HasSubstr("all elements need the same number of rows, at least 1: f64 [2]"));
  EXPECT_THAT(ErrorOf([&] { MapFn(id, {Constant(1.0)}); }), HasSubstr("'Const:0' is f64 []"));
  EXPECT_THAT(ErrorOf([&] { MapFn(id, {}); }), HasSubstr("at least one tensor"));
}

TEST_F(FunctionalTest, TensorArraysReadWriteGatherAndScatter) {
  const TensorArray a(Constant({3, 2}, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}));
  EXPECT_EQ(a.size(), 3);
  EXPECT_THAT(Doubles(a.Read(Constant(1))), ElementsAre(3, 4));
  EXPECT_THAT(Doubles(a.Gather(Constant({2, 0}))), ElementsAre(5, 6, 1, 2));
  EXPECT_THAT(Doubles(a.Write(Constant(0), Constant({7.0, 8.0})).Stack()),
              ElementsAre(7, 8, 3, 4, 5, 6));
  EXPECT_THAT(Doubles(TensorArray({DType::kFloat64, {}}, 3)
                          .Scatter(Constant({2, 1}), Constant({7.0, 8.0}))
                          .Stack()),
              ElementsAre(0, 8, 7));
}

}  // namespace
}  // namespace estimator
