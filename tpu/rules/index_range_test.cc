#include "tpu/rules/index_range.h"

#include <cstdint>

#include "estimator/ops/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::tpu {
namespace {

class IndexRangeTest : public ::testing::Test {
 protected:
  static bool InRange(const Tensor& gathered) {
    return IndicesAreInRange(*gathered.node(), [](const Node&) { return Tensors(); });
  }
  // The number of rows of the smallest table, of up to 40, that has all indices; -1 if none has.
  int64_t SmallestTable(const Tensor& indices) {
    for (int64_t rows = 1; rows <= 40; ++rows) {
      const Tensor table = Placeholder(DType::kFloat32, {rows, 2});
      const Tensor columns = Placeholder(DType::kFloat32, {2, rows});
      const bool fits = InRange(Gather(table, indices));
      EXPECT_EQ(InRange(Gather(columns, indices, {.axis = 1})), fits);
      if (fits) return rows;
    }
    return -1;
  }

  Graph graph_;
  const GraphScope scope_{graph_};
  const Tensor x_ = Placeholder(DType::kFloat32, {4, 10});
  const Tensor unknown_ = Placeholder(DType::kInt32, {4});
  const Tensor ids_ = ArgMax(x_, 1, {.output_type = DType::kInt32});  // 0 to 9
};

TEST_F(IndexRangeTest, SearchesAndConstantsHaveARange) {
  EXPECT_EQ(SmallestTable(ids_), 10);
  EXPECT_EQ(SmallestTable(ArgMax(x_, 0, {.output_type = DType::kInt64})), 4);
  EXPECT_EQ(SmallestTable(TopK(x_, 2).indices), 10);
  EXPECT_EQ(SmallestTable(Constant(Array::Of<int32_t>({3}, {4, 7, 2}))), 8);
  EXPECT_EQ(SmallestTable(Constant(Array::Of<int32_t>({2}, {-1, 2}))), -1);
  EXPECT_EQ(SmallestTable(unknown_), -1);
}

TEST_F(IndexRangeTest, ArithmeticMovesBothEnds) {
  EXPECT_EQ(SmallestTable(ids_ + 5), 15);
  EXPECT_EQ(SmallestTable(ids_ - 1), -1);
  EXPECT_EQ(SmallestTable(ids_ + 1 - 1), 10);
  EXPECT_EQ(SmallestTable(Subtract(Constant(int32_t{9}), ids_)), 10);
  EXPECT_EQ(SmallestTable(Subtract(Constant(int32_t{8}), ids_)), -1);
  EXPECT_EQ(SmallestTable(ids_ * 3), 28);
  EXPECT_EQ(SmallestTable((ids_ - 1) * 3), -1);
  EXPECT_EQ(SmallestTable(FloorDiv(ids_, 2)), 5);
  EXPECT_EQ(SmallestTable(FloorDiv(Constant(int32_t{20}), ids_ + 2)), 11);
  EXPECT_EQ(SmallestTable(FloorDiv(Constant(int32_t{20}), ids_)), -1) << "a division by 0";
  EXPECT_EQ(SmallestTable(FloorMod(unknown_, 7)), 7);
  EXPECT_EQ(SmallestTable(FloorMod(unknown_, -7)), -1);
  EXPECT_EQ(SmallestTable(FloorMod(unknown_, ids_ + 1)), 10);
}

// The smallest index shows by what can be subtracted before it is negative.
TEST_F(IndexRangeTest, TheSmallestIndexIsKnownToo) {
  EXPECT_EQ(SmallestTable(ids_ + 5 - 5), 10);
  EXPECT_EQ(SmallestTable(ids_ + 5 - 6), -1);
  EXPECT_EQ(SmallestTable((ids_ + 1) * 3 - 3), 28);
  EXPECT_EQ(SmallestTable((ids_ + 1) * 3 - 4), -1);
  EXPECT_EQ(SmallestTable(FloorDiv(ids_ + 6, 2) - 3), 5);
  EXPECT_EQ(SmallestTable(FloorDiv(ids_ + 6, 2) - 4), -1);
  EXPECT_EQ(SmallestTable(FloorDiv(Constant(int32_t{20}), ids_ + 2) - 1), 10);
  EXPECT_EQ(SmallestTable(FloorDiv(Constant(int32_t{20}), ids_ + 2) - 2), -1);
  EXPECT_EQ(SmallestTable(FloorMod(unknown_, 7) - 1), -1);
  EXPECT_EQ(SmallestTable(Minimum(ids_, 3) - 1), -1);
  EXPECT_EQ(SmallestTable(Minimum(ids_ + 2, 3) - 2), 2);
  EXPECT_EQ(SmallestTable(Maximum(ids_, 3) - 3), 7);
  EXPECT_EQ(SmallestTable(Maximum(ids_, 3) - 4), -1);
  EXPECT_EQ(SmallestTable(TopK(x_, 2).indices - 1), -1);
  EXPECT_EQ(SmallestTable(Concat({ids_ + 2, ids_ + 1}, 0) - 1), 11);
  EXPECT_EQ(SmallestTable(Concat({ids_ + 2, ids_ + 1}, 0) - 2), -1);
  EXPECT_EQ(SmallestTable(Concat({ids_ + 1, ids_ + 2}, 0) - 2), -1);
}

TEST_F(IndexRangeTest, ValuesOfASearchAreNotItsIndices) {
  EXPECT_EQ(SmallestTable(TopK(Placeholder(DType::kInt32, {4, 10}), 2).values), -1);
}

TEST_F(IndexRangeTest, LimitsAndChoicesTakeTheOuterEnds) {
  EXPECT_EQ(SmallestTable(Minimum(ids_, 3)), 4);
  EXPECT_EQ(SmallestTable(Minimum(ids_, 30)), 10);
  EXPECT_EQ(SmallestTable(Maximum(ids_, 3)), 10);
  EXPECT_EQ(SmallestTable(Maximum(ids_, 12)), 13);
  EXPECT_EQ(SmallestTable(Maximum(ids_ - 1, 0)), 9);
  EXPECT_EQ(SmallestTable(Minimum(unknown_, 3)), -1);
  const Tensor some = Constant(Array::Of<int32_t>({4}, {20, 1, 1, 1}));
  EXPECT_EQ(SmallestTable(Where(Placeholder(DType::kBool, {4}), ids_, some)), 21);
  EXPECT_EQ(SmallestTable(Where(Placeholder(DType::kBool, {4}), some, ids_ + 15)), 25);
  EXPECT_EQ(SmallestTable(Concat({ids_, some}, 0)), 21);
  EXPECT_EQ(SmallestTable(Stack({ids_, some, unknown_})), -1);
}

TEST_F(IndexRangeTest, MovesKeepTheRange) {
  EXPECT_EQ(SmallestTable(Reshape(ids_, Shape{2, 2})), 10);
  EXPECT_EQ(SmallestTable(Cast(ExpandDims(ids_, 1), DType::kInt64)), 10);
  EXPECT_EQ(SmallestTable(Slice(ids_, {1}, {2})), 10);
  EXPECT_EQ(SmallestTable(Gather(ids_, Constant(int32_t{0}))), 10);
  EXPECT_EQ(SmallestTable(Cast(x_, DType::kInt32)), -1) << "of numbers that are no integers";
}

// 2^31 and more: the ranges of larger numbers are not followed, so that none overflows.
TEST_F(IndexRangeTest, ALargeProductIsNotInRange) {
  const Tensor large = Cast(ids_, DType::kInt64) * (int64_t{1} << 40);
  EXPECT_EQ(SmallestTable(large * large), -1);
  EXPECT_EQ(SmallestTable(FloorDiv(large, int64_t{1} << 40)), -1);
}

TEST_F(IndexRangeTest, EachPartOfAnIndexHasItsOwnAxis) {
  const auto fits = [&](const Tensor& row, const Tensor& column) {
    const Tensor table = Placeholder(DType::kFloat32, {10, 4, 2});
    return InRange(GatherNd(table, Stack({row, column}, 1)));
  };
  const Tensor columns = Minimum(ids_, 3);
  EXPECT_TRUE(fits(ids_, columns));
  EXPECT_FALSE(fits(columns, ids_));
  EXPECT_FALSE(fits(ids_ + 1, columns));
  EXPECT_FALSE(fits(ids_, columns + 1));
  // Parts that are not told apart have to fit on every axis.
  const Tensor pairs = Reshape(ids_, Shape{2, 2});
  const Tensor wide = Placeholder(DType::kFloat32, {10, 10});
  EXPECT_TRUE(InRange(GatherNd(wide, pairs)));
  const Tensor narrow = Placeholder(DType::kFloat32, {10, 9});
  EXPECT_FALSE(InRange(GatherNd(narrow, pairs)));
  // Rows of indices, stacked on another axis than the parts of one index.
  EXPECT_TRUE(InRange(GatherNd(Zeros({10, 10, 10, 10}), Stack({ids_, columns}, 0))));
  EXPECT_FALSE(InRange(GatherNd(Zeros({10, 9, 10, 10}), Stack({ids_, columns}, 0))));
}

}  // namespace
}  // namespace estimator::tpu
