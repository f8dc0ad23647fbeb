#include "estimator/ops/manipulation.h"

#include <vector>

#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using testing::Doubles;
using ::testing::ElementsAre;
using testing::ErrorOf;
using testing::Eval;
using ::testing::HasSubstr;
using testing::Scrambled;
using Inputs = std::vector<Tensor>;

using TransposeTest = GraphTest;
using ConcatTest = GraphTest;
using SplitTest = GraphTest;
using StackTest = GraphTest;
using ReverseTest = GraphTest;
using TileTest = GraphTest;

TEST_F(TransposeTest, PermutesAxes) {
  const Tensor x = Constant({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Doubles(Transpose(x)), ElementsAre(1, 4, 2, 5, 3, 6));
  const Tensor y = Transpose(Reshape(Range(8), {2, 2, 2}), {2, 0, 1});
  EXPECT_THAT(Doubles(y), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  EXPECT_EQ(Transpose(Zeros({2, 3, 4}), {-1, 0, 1}).shape(), (Shape{4, 2, 3}));
  EXPECT_THAT(ErrorOf([] {
                Transpose(Zeros({2, 3}), {0, 0});
              }),
              HasSubstr("[0,0] is not a permutation"));
  EXPECT_THAT(ErrorOf([] { Transpose(Zeros({2, 3}), {0}); }), HasSubstr("not a permutation"));
}

TEST_F(ConcatTest, JoinsAlongAnAxis) {
  const Tensor x = Constant({2, 1}, {1, 2}), y = Constant({2, 2}, {3, 4, 5, 6});
  EXPECT_THAT(Doubles(Concat({x, y}, 1)), ElementsAre(1, 3, 4, 2, 5, 6));
  EXPECT_THAT(Doubles(Concat({x, x}, 0)), ElementsAre(1, 2, 1, 2));
  EXPECT_EQ(Concat({x, y}, -1).shape(), (Shape{2, 3}));
  const Tensor words =
      Concat({Constant({1}, {std::string("a")}), Constant({1}, {std::string("b")})}, 0);
  EXPECT_EQ(Eval(words)->values<std::string>()[1], "b");
  EXPECT_THAT(ErrorOf([] { Concat({Zeros({2, 1}), Zeros({3, 2})}, 1); }), HasSubstr("[3,2]"));
  EXPECT_THAT(ErrorOf([] {
                Concat({Zeros({2}), Constant({1})}, 0);
              }),
              HasSubstr("float32 and int32"));
}

TEST_F(SplitTest, DividesEquallyOrBySizes) {
  const Tensor x = Constant({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const std::vector<Tensor> halves = Split(x, 2, {.axis = 1});
  ASSERT_EQ(halves.size(), 2);
  EXPECT_THAT(Doubles(halves[1]), ElementsAre(3, 4, 7, 8));
  const std::vector<Tensor> parts = Split(x, std::vector<int64_t>{1, -1}, {.axis = 1});
  EXPECT_THAT(Doubles(parts[0]), ElementsAre(1, 5));
  EXPECT_THAT(Doubles(parts[1]), ElementsAre(2, 3, 4, 6, 7, 8));
  EXPECT_THAT(ErrorOf([] { Split(Zeros({5}), 2); }), HasSubstr("2 equal parts"));
  EXPECT_THAT(ErrorOf([] { Split(Zeros({5}), std::vector<int64_t>{2, 2}); }), HasSubstr("[2,2]"));
}

TEST_F(StackTest, AddsAnAxisAndUnstackTakesItAway) {
  const Tensor x = Constant({1, 2}), y = Constant({3, 4});
  EXPECT_THAT(Doubles(Stack({x, y})), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Doubles(Stack({x, y}, -1)), ElementsAre(1, 3, 2, 4));
  const std::vector<Tensor> rows = Unstack(Stack({x, y}, 1), 1);
  ASSERT_EQ(rows.size(), 2);
  EXPECT_THAT(Doubles(rows[1]), ElementsAre(3, 4));
  EXPECT_THAT(ErrorOf([] { Stack({Zeros({2}), Zeros({3})}); }), HasSubstr("f32 [3]"));
  EXPECT_THAT(ErrorOf([] { Unstack(Zeros({2}), 1); }), HasSubstr("axis 1"));
}

TEST_F(ReverseTest, TurnsAxesAround) {
  const Tensor x = Constant({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(Doubles(Reverse(x, {1})), ElementsAre(2, 1, 4, 3));
  EXPECT_THAT(Doubles(Reverse(x, {0, -1})), ElementsAre(4, 3, 2, 1));
  EXPECT_EQ(Doubles(Reverse(Zeros({0, 2}), {0})).size(), 0);
  EXPECT_THAT(ErrorOf([] { Reverse(Zeros({2}), {1}); }), HasSubstr("axis 1"));
}

TEST_F(TileTest, Repeats) {
  EXPECT_THAT(Doubles(Tile(Constant({1, 2}, {1, 2}), {2, 2})), ElementsAre(1, 2, 1, 2, 1, 2, 1, 2));
  EXPECT_THAT(Doubles(Tile(Constant({2, 1}, {1, 2}), {1, 2})), ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(ErrorOf([] { Tile(Zeros({2}), {1, 2}); }), HasSubstr("2 multiples"));
}

TEST(Manipulation, GradientsMatchFiniteDifferences) {
  const Array x = Scrambled({2, 3, 2}, -1, 1), y = Scrambled({2, 1, 2}, 1, 2);
  const std::vector<testing::TensorFn> builds = {
      [](const Inputs& in) {
        return Transpose(in[0], {2, 0, -2});
      },
      [](const Inputs& in) {
        return Concat({in[0], in[1], in[0]}, -2);
      },
      [](const Inputs& in) {
        return Split(in[0], 3, {.axis = 1})[1] * Split(in[0], 3, {.axis = 1})[0];
      },
      [](const Inputs& in) {
        return Split(in[0], std::vector<int64_t>{1, 2}, {.axis = 1})[1];
      },
      [](const Inputs& in) {
        return Stack({in[0], in[0] * in[0]}, -1);
      },
      [](const Inputs& in) { return Unstack(in[0], 1)[2]; },
      [](const Inputs& in) {
        return Reverse(in[0], {0, 2});
      },
      [](const Inputs& in) {
        return Tile(in[0], {2, 1, 3});
      }};
  for (const auto& build : builds) EXPECT_EQ(CheckGradients(build, {x, y}).ToString(), "OK");
}

}  // namespace
}  // namespace estimator
