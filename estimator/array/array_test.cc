#include "estimator/array/array.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"

namespace estimator {
namespace {

TEST(Array, StartsAtZeroAndSharesBytesOnCopy) {
  Array a(DType::kFloat32, Shape{2, 2});
  EXPECT_EQ(a.AsDouble(3), 0);
  Array b = a;
  b.data<float>()[0] = 5;
  EXPECT_EQ(a.AsDouble(0), 5);
  Array c = a.Clone();
  c.data<float>()[0] = 6;
  EXPECT_EQ(a.AsDouble(0), 5);
}

TEST(Array, RowsAndSlicesShareTheBytes) {
  const Array a = Array::Of<int32_t>({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(a.Row(1).ToString(), "[3, 4]");
  EXPECT_EQ(a.Slice(1, 3).ToString(), "[[3, 4],\n [5, 6]]");
  EXPECT_EQ(a.Row(2).raw(), a.data<int32_t>() + 4);
  EXPECT_EQ(a.Reshaped({6}).shape(), (Shape{6}));
}

TEST(Array, StringsAreSlicedAndCloned) {
  const Array a = Array::Of<std::string>({2}, {"one", "two"});
  EXPECT_EQ(a.Row(1).scalar<std::string>(), "two");
  EXPECT_EQ(a.Clone().Slice(0, 1).ToString(), "['one']");
}

TEST(Array, StringsAreMadeOfAVector) {
  const Array words = Array::Strings({"cat", "dog"});
  EXPECT_EQ(words.shape(), (Shape{2}));
  EXPECT_EQ(words.values<std::string>()[1], "dog");
  EXPECT_EQ(Array::Strings({}).shape(), (Shape{0}));
}

TEST(Array, CastSaturatesAndDropsNaN) {
  const Array a = Array::Of<float>({4}, {3.9f, -3.9f, 1e20f, NAN});
  EXPECT_EQ(a.Cast(DType::kInt32).ToString(), "[3, -3, 2147483647, 0]");
  EXPECT_EQ(a.Cast(DType::kUint8).ToString(), "[3, 0, 255, 0]");
  EXPECT_EQ(Array::Of<float>({2}, {0, 0.5f}).Cast(DType::kBool).ToString(), "[false, true]");
  EXPECT_EQ(Array::Scalar(1.00390625f).Cast(DType::kBfloat16).AsDouble(), 1.0);
}

TEST(Array, LongOnesAreAbbreviated) {
  Array a(DType::kInt64, Shape{100});
  EXPECT_EQ(a.ToString(), "[0, 0, 0, ..., 0, 0, 0]");
}

TEST(Array, JoinsAndStacks) {
  const Array a = Array::Of<float>({1, 2}, {1, 2});
  const Array b = Array::Of<float>({2, 2}, {3, 4, 5, 6});
  EXPECT_EQ(Concatenate({a, b}).ToString(), "[[1, 2],\n [3, 4],\n [5, 6]]");
  EXPECT_EQ(Stack({a, a}).shape(), (Shape{2, 1, 2}));
}

TEST(Array, LargeStorageIsZeroAndCanBeAllocatedAgainAndAgain) {
  constexpr int64_t kBytes = (int64_t{2} << 20) + 1;
  for (int i = 0; i < 3; ++i) {
    Array array(DType::kUint8, {kBytes});
    uint8_t* const bytes = array.data<uint8_t>();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % Array::kAlignment, 0u);
    EXPECT_EQ(std::count(bytes, bytes + kBytes, 0), kBytes);
    std::fill(bytes, bytes + kBytes, uint8_t{1});  // the next array must not get these bytes
    const Array row = array.Slice(kBytes - 1, kBytes);
    array = Array();
    EXPECT_EQ(row.data<uint8_t>()[0], 1);  // a slice keeps the storage
  }
}

TEST(ArrayDeathTest, ElementsOfAnotherTypeAreRefusedNamingBothAndTheCure) {
  Array labels(DType::kInt64, {1000});
  EXPECT_DEATH(
      labels.data<int32_t>(),
      "this array is i64 \\[1000\\] \\(int64\\), but its elements were requested as "
      "int32_t \\(int32\\): request int64_t, or create it with dtype int32, or convert it with "
      "Cast");
  EXPECT_DEATH(Array().data<float>(), "this array is empty.*float.*: create it with dtype float32");
}

TEST(ArrayDeathTest, PartsOfUnequalShapeAreRefusedBeforeTheyAreCopied) {
  const Array small = Array::Of<float>({2}, {1, 2});
  EXPECT_DEATH(Stack({small, Array(DType::kFloat32, Shape{1 << 22})}),
               "the parts have unequal shapes");
}

}  // namespace
}  // namespace estimator
