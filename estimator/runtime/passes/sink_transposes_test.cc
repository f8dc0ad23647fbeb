#include "estimator/runtime/passes/sink_transposes.h"

#include <string>
#include <vector>

#include "estimator/runtime/passes/simplify.h"
#include "estimator/runtime/passes/testing/pass_module.h"
#include "gtest/gtest.h"

namespace estimator::ir {
namespace {

const Attrs kDropped = {{"keep_dims", false}};

class SinkTransposesTest : public ::testing::Test {
 protected:
  Value Ints(const std::vector<int64_t>& values, const Shape& shape) {
    return b_.Constant(Array::FromSpan<int64_t>(shape, values).Cast(DType::kInt32));
  }
  // A feed [N,H,W,C] as [N,C,H,W].
  Value Image(const Shape& shape = {2, 3, 5, 4}, int seed = 1) {
    feeds_.push_back(Numbers(shape, seed));
    return b_.Op("Transpose", {b_.Feed(shape), Ints({0, 3, 1, 2}, {4})},
                 {shape[0], shape[3], shape[1], shape[2]});
  }
  // Fetches `value`, as [N,H,W,C] if it has four axes.
  void FetchLast(Value value) {
    const Shape s = b_.module.spec(value).shape;
    b_.Fetch(s.rank() < 4
                 ? value
                 : b_.Op("Transpose", {value, Ints({0, 2, 3, 1}, {4})}, {s[0], s[2], s[3], s[1]}));
  }
  // The number of transposes after the pass. The values must not change.
  int Left() {
    const Module before = b_.module;
    SinkTransposes(b_.module);
    Simplify(b_.module, false);
    EXPECT_EQ(DifferenceOf(before, b_.module, feeds_), "");
    return Count(b_.module, "Transpose");
  }

  ModuleBuilder b_;
  std::vector<Array> feeds_;
};

TEST_F(SinkTransposesTest, ElementwiseOpsAreComputedInChannelsLast) {
  const Value sum = b_.Op("AddV2", {Image(), Image({2, 3, 5, 4}, 2)}, {2, 4, 3, 5});
  FetchLast(b_.Op("Relu", {sum}, {2, 4, 3, 5}));
  EXPECT_EQ(Left(), 0);
}

TEST_F(SinkTransposesTest, ASmallOperandIsTransposedInstead) {
  const Value bias = b_.Constant(Numbers({4, 1, 1}, 3));
  FetchLast(
      b_.Op("Mul", {b_.Op("AddV2", {Image(), bias}, {2, 4, 3, 5}), b_.Scalar(2)}, {2, 4, 3, 5}));
  // Its other axes have size 1, so it becomes a Reshape.
  EXPECT_EQ(Left(), 0);
}

TEST_F(SinkTransposesTest, ALargeOperandIsTransposedIfTheResultIsReadInChannelsLast) {
  feeds_ = {Numbers({2, 4, 3, 5}, 7)};
  const Value mask = b_.Feed({2, 4, 3, 5});
  FetchLast(b_.Op("Mul", {Image(), mask}, {2, 4, 3, 5}));
  EXPECT_EQ(Left(), 1);
}

TEST_F(SinkTransposesTest, WithALargeOperandAndAnotherReaderNothingChanges) {
  feeds_ = {Numbers({2, 4, 3, 5}, 7)};
  const Value mask = b_.Feed({2, 4, 3, 5});
  const Value image = Image();
  FetchLast(image);
  b_.Fetch(b_.Op("Mul", {image, mask}, {2, 4, 3, 5}));
  EXPECT_FALSE(SinkTransposes(b_.module));
}

TEST_F(SinkTransposesTest, ConcatPadAndSliceHaveOtherAxes) {
  const Value joined =
      b_.Op("ConcatV2", {Image(), Image({2, 3, 5, 7}, 2), Ints({1}, {})}, {2, 11, 3, 5});
  const Value padded =
      b_.Op("Pad", {joined, Ints({0, 0, 0, 0, 1, 2, 3, 0}, {4, 2})}, {2, 11, 6, 8});
  FetchLast(
      b_.Op("Slice", {padded, Ints({0, 4, 0, 2}, {4}), Ints({2, 5, 6, 3}, {4})}, {2, 5, 6, 3}));
  EXPECT_EQ(Left(), 0);
}

TEST_F(SinkTransposesTest, SumsHaveOtherAxesWhereTheChannelsStayLast) {
  const Value x = Image();
  FetchLast(b_.Op("Mean", {x, Ints({2, 3}, {2})}, {2, 4}, kDropped));
  FetchLast(b_.Op("Sum", {x, Ints({-3}, {1})}, {2, 3, 5}, kDropped));
  FetchLast(b_.Op("Max", {x, Ints({2, 3}, {2})}, {2, 4, 1, 1}, {{"keep_dims", true}}));
  EXPECT_EQ(Left(), 0);
}

TEST_F(SinkTransposesTest, ASumThatLeavesTheChannelsInTheMiddleStays) {
  const Value image = Image();
  FetchLast(image);
  b_.Fetch(b_.Op("Sum", {image, Ints({3}, {1})}, {2, 4, 3}, kDropped));
  EXPECT_EQ(Left(), 1);
}

TEST_F(SinkTransposesTest, WithoutAnInverseNothingChanges) {
  b_.Fetch(b_.Op("Relu", {Image()}, {2, 4, 3, 5}));
  EXPECT_FALSE(SinkTransposes(b_.module));
}

// As of attention heads: fusion has patterns with them.
TEST_F(SinkTransposesTest, OtherTransposesStay) {
  feeds_ = {Numbers({2, 3, 5, 4})};
  const Value heads =
      b_.Op("Transpose", {b_.Feed({2, 3, 5, 4}), Ints({0, 2, 1, 3}, {4})}, {2, 5, 3, 4});
  b_.Fetch(b_.Op("Relu", {heads}, {2, 5, 3, 4}));
  EXPECT_FALSE(SinkTransposes(b_.module));
}

}  // namespace
}  // namespace estimator::ir
