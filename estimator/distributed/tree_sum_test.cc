#include "estimator/distributed/tree_sum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

// The sum of one element of each input.
template <typename T>
T SumOf(const std::vector<T>& values) {
  std::vector<const void*> inputs;
  for (const T& value : values) inputs.push_back(&value);
  T sum;
  EST_EXPECT_OK(TreeSum(kDTypeOf<T>, 1, inputs, {&sum}));
  return sum;
}

TEST(TreeSum, AddsInPairsAndNotInOrder) {
  // Each 1 would be lost if it were added to 2^24 alone.
  const float big = 1 << 24;
  EXPECT_EQ(SumOf<float>({big, 0, 1, 1}), big + 2);
  EXPECT_EQ(SumOf<float>({1, 1, big}), big + 2);
  EXPECT_EQ(SumOf<float>({0, 0, 0, big, 1, 1}), big + 2);
  EXPECT_EQ(SumOf<float>({big, 1, 1}), big);
}

TEST(TreeSum, TheSumsOfSubtreesHaveTheSumOfAll) {
  for (const size_t num_inputs : {1, 2, 3, 4, 5, 7, 8, 16}) {
    for (const size_t subtree : {1, 2, 4, 8}) {
      SCOPED_TRACE(testing::Message() << num_inputs << " inputs in subtrees of " << subtree);
      std::vector<float> values, sums;
      for (size_t i = 0; i < num_inputs; ++i) values.push_back(std::sin(1.f + i) * (i % 3 + 1));
      for (size_t i = 0; i < num_inputs; i += subtree) {
        const auto begin = values.begin() + i;
        sums.push_back(SumOf<float>({begin, begin + std::min(subtree, num_inputs - i)}));
      }
      EXPECT_EQ(SumOf(sums), SumOf(values));
    }
  }
}

TEST(TreeSum, SixteenBitFloatsAreRoundedOnce) {
  // 256 + 1 is not a bfloat16, and 256 + 2 is.
  EXPECT_EQ(static_cast<float>(SumOf<Bfloat16>({Bfloat16(256.f), Bfloat16(1.f), Bfloat16(1.f)})),
            258);
}

TEST(TreeSum, IntegersWrapAround) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(SumOf<int64_t>({kMax, 1, 5}), std::numeric_limits<int64_t>::min() + 5);
  EXPECT_EQ(SumOf<int32_t>({-3, 5, -7}), -5);
  EXPECT_EQ(SumOf<int8_t>({127, 1}), -128);
}

TEST(TreeSum, ManyElementsMayBeSummedInPlace) {
  constexpr int64_t kCount = 100'003;
  std::vector<std::vector<double>> values(5, std::vector<double>(kCount));
  std::vector<double> expected(kCount);
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (size_t k = 0; k < values.size(); ++k) {
    for (int64_t i = 0; i < kCount; ++i) expected[i] += values[k][i] = (k + 1) * i;
    inputs.push_back(values[k].data());
    outputs.push_back(values[k].data());
  }
  EST_ASSERT_OK(TreeSum(DType::kFloat64, kCount, inputs, outputs));
  for (const auto& output : values) EXPECT_EQ(output, expected);
}

TEST(TreeSum, RefusesBools) {
  bool value = true;
  EXPECT_THAT(TreeSum(DType::kBool, 1, {&value}, {&value}), ErrorHas("only numbers are summed"));
}

}  // namespace
}  // namespace estimator
