#include "estimator/array/tree_sum.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;

// Numbers whose sums depend on the order in their last bits.
std::vector<std::vector<float>> Operands(size_t n, size_t count) {
  std::vector<std::vector<float>> operands(n, std::vector<float>(count));
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = 0; i < count; ++i)
      operands[k][i] = std::sin(static_cast<float>(1 + 31 * k + i)) * std::pow(10.0f, k % 5);
  }
  return operands;
}

std::vector<const void*> Pointers(const std::vector<std::vector<float>>& operands) {
  std::vector<const void*> pointers;
  for (const auto& operand : operands) pointers.push_back(operand.data());
  return pointers;
}

// The definition: pairs, pairs of the sums, ....
std::vector<float> SumByDefinition(std::vector<std::vector<float>> sums) {
  while (sums.size() > 1) {
    std::vector<std::vector<float>> next;
    for (size_t k = 0; k < sums.size(); k += 2) {
      next.push_back(sums[k]);
      if (k + 1 == sums.size()) continue;
      for (size_t i = 0; i < sums[k].size(); ++i) next.back()[i] = sums[k][i] + sums[k + 1][i];
    }
    sums = next;
  }
  return sums[0];
}

std::vector<float> Sum(const std::vector<std::vector<float>>& operands) {
  std::vector<float> sum(operands[0].size());
  EST_EXPECT_OK(TreeSum(DType::kFloat32, DType::kFloat32, static_cast<int64_t>(sum.size()),
                        Pointers(operands), {sum.data()}));
  return sum;
}

TEST(TreeSum, AddsNeighboursInPairs) {
  // Most other orders lose one of the small numbers.
  EXPECT_THAT(Sum({{1e8f}, {-1e8f}, {1}, {2}, {4}}), ElementsAre(7));
  EXPECT_THAT(Sum({{1e8f}, {1}, {-1e8f}, {2}}), ElementsAre(0));
  EXPECT_THAT(Sum({{1}, {1e8f}, {-1e8f}}), ElementsAre(0));
  EXPECT_THAT(Sum({{1e8f}, {-1e8f}, {1}}), ElementsAre(1));
}

TEST(TreeSum, HasTheBitsOfTheDefinitionForEveryNumberOfOperands) {
  for (size_t n = 1; n <= 20; ++n) {
    const auto operands = Operands(n, 2500);
    EXPECT_EQ(Sum(operands), SumByDefinition(operands)) << n;
  }
  const auto long_operands = Operands(7, 100000);  // on several threads
  EXPECT_EQ(Sum(long_operands), SumByDefinition(long_operands));
}

TEST(TreeSum, IsTheTreeOverTheSumsOfPartsOfAPowerOfTwo) {
  for (const auto& [n, part] : std::vector<std::pair<size_t, size_t>>{
           {8, 2}, {8, 4}, {6, 2}, {12, 4}, {12, 2}, {5, 1}, {40, 8}}) {
    const auto operands = Operands(n, 100);
    std::vector<std::vector<float>> parts;
    for (size_t k = 0; k < n; k += part) {
      const auto begin = operands.begin() + static_cast<std::ptrdiff_t>(k);
      parts.push_back(Sum({begin, begin + static_cast<std::ptrdiff_t>(part)}));
    }
    EXPECT_EQ(Sum(parts), Sum(operands)) << n << " in parts of " << part;
  }
}

TEST(TreeSum, WritesEveryOutputAlsoInPlace) {
  for (const size_t n : {2u, 3u, 4u, 8u, 11u}) {
    auto operands = Operands(n, 3000);
    const auto sum = SumByDefinition(operands);
    std::vector<void*> outputs;
    for (auto& operand : operands) outputs.push_back(operand.data());
    EST_ASSERT_OK(TreeSum(DType::kFloat32, DType::kFloat32, 3000, Pointers(operands), outputs));
    for (const auto& operand : operands) EXPECT_EQ(operand, sum) << n;
  }
}

TEST(TreeSum, SumsBfloat16InFloat32) {
  const Bfloat16 one(1.0f), big(256.0f);
  Bfloat16 rounded;
  float exact = 0;
  // 256 + 1 + 2 in steps of bfloat16 would be 258.
  EST_ASSERT_OK(TreeSum(DType::kBfloat16, DType::kBfloat16, 1, {&big, &one, &one}, {&rounded}));
  EXPECT_EQ(static_cast<float>(rounded), 258.0f);
  EST_ASSERT_OK(TreeSum(DType::kBfloat16, DType::kFloat32, 1, {&big, &one}, {&exact}));
  EXPECT_EQ(exact, 257.0f);
  const float two = 2;
  EST_ASSERT_OK(TreeSum(DType::kFloat32, DType::kBfloat16, 1, {&exact, &two}, {&rounded}));
  EXPECT_EQ(static_cast<float>(rounded), 260.0f) << "259, rounded to even";
}

TEST(TreeSum, IntegersWrapAround) {
  const int8_t a = 100, b = 28;
  int8_t sum = 0;
  EST_ASSERT_OK(TreeSum(DType::kInt8, DType::kInt8, 1, {&a, &b}, {&sum}));
  EXPECT_EQ(sum, -128);
  const int64_t largest = std::numeric_limits<int64_t>::max(), one = 1;
  int64_t wrapped = 0, again = 0;
  EST_ASSERT_OK(TreeSum(DType::kInt64, DType::kInt64, 1, {&largest, &one}, {&wrapped, &again}));
  EXPECT_EQ(wrapped, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(again, wrapped);
}

TEST(TreeSum, RefusesWhatIsNoNumber) {
  bool flag = true;
  EXPECT_THAT(TreeSum(DType::kBool, DType::kBool, 1, {&flag}, {&flag}),
              StatusIs(absl::StatusCode::kUnimplemented));
}

}  // namespace
}  // namespace estimator
