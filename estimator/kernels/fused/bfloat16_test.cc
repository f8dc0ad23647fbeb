#include "estimator/kernels/fused/bfloat16.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace estimator::fused {
namespace {

// Halfway cases with even and odd neighbours, both signs, subnormals, infinities, NaN, and
// many more bit patterns. The length is no multiple of a vector.
std::vector<float> Numbers() {
  std::vector<float> numbers = {0.0f,
                                -0.0f,
                                1.0f,
                                std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::max(),
                                std::numeric_limits<float>::denorm_min()};
  for (uint32_t upper = 0; upper < 0x10000u; upper += 37) {
    for (const uint32_t lower : {0u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      numbers.push_back(std::bit_cast<float>((upper << 16) | lower));
  }
  if (numbers.size() % 16 == 0) numbers.push_back(3.0f);
  return numbers;
}

uint32_t Bits(float value) { return std::bit_cast<uint32_t>(value); }

TEST(Bfloat16Runs, HaveTheBitsOfTheScalarConversions) {
  const std::vector<float> numbers = Numbers();
  const size_t n = numbers.size();
  std::vector<Bfloat16> narrow(n + 1, Bfloat16(7.0f));
  std::vector<float> rounded(n + 1, 7.0f), widened(n + 1, 7.0f);
  NarrowToBfloat16(numbers.data(), narrow.data(), n);
  RoundToBfloat16(numbers.data(), rounded.data(), n);
  WidenBfloat16(narrow.data(), widened.data(), n);
  for (size_t i = 0; i < n; ++i) {
    ASSERT_EQ(narrow[i].bits, FloatToBfloat16Bits(numbers[i])) << Bits(numbers[i]);
    ASSERT_EQ(Bits(rounded[i]), uint32_t{narrow[i].bits} << 16);
    ASSERT_EQ(Bits(widened[i]), uint32_t{narrow[i].bits} << 16);
  }
  EXPECT_EQ(static_cast<float>(narrow[n]), 7.0f);
  EXPECT_EQ(rounded[n], 7.0f);
  EXPECT_EQ(widened[n], 7.0f);
}

TEST(Bfloat16Runs, RoundHalfwayCasesToEven) {
  // 1 + 2^-8 is halfway between 1 and 1 + 2^-7; 1 + 3 * 2^-8 between 1 + 2^-7 and 1 + 2^-6.
  const float numbers[] = {1.00390625f, 1.01171875f, 1.00390637f};
  float rounded[3];
  RoundToBfloat16(numbers, rounded, 3);
  EXPECT_EQ(rounded[0], 1.0f);
  EXPECT_EQ(rounded[1], 1.015625f);
  EXPECT_EQ(rounded[2], 1.0078125f);
}

TEST(Bfloat16Runs, RoundInPlace) {
  std::vector<float> numbers(33, 1.00390637f);
  RoundToBfloat16(numbers.data(), numbers.data(), numbers.size());
  for (const float x : numbers) EXPECT_EQ(x, 1.0078125f);
}

}  // namespace
}  // namespace estimator::fused
