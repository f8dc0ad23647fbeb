#include "estimator/array/dtype.h"

#include <cmath>
#include <limits>

#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

TEST(DType, NamesAndNumbersAreTensorFlows) {
  EXPECT_EQ(static_cast<int>(DType::kBfloat16), 14);
  EXPECT_EQ(DTypeName(DType::kFloat16), "float16");
  EXPECT_EQ(*DTypeFromName("bfloat16"), DType::kBfloat16);
  EXPECT_EQ(*DTypeFromName("i64"), DType::kInt64);
  EXPECT_EQ(DTypeSize(DType::kInt64), 8u);
}

TEST(DType, AnUnknownNameListsTheKnownOnes) {
  const absl::Status status = DTypeFromName("float23").status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("bfloat16")));
}

TEST(Bfloat16, RoundsToNearestEven) {
  EXPECT_EQ(Bfloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(Bfloat16(1.00390625f).bits, 0x3f80);  // halfway, down to even
  EXPECT_EQ(Bfloat16(1.01171875f).bits, 0x3f82);  // halfway, up to even
  EXPECT_EQ(Bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(static_cast<float>(Bfloat16(NAN))));
}

TEST(Float16, RoundsToNearestEvenAcrossItsRange) {
  EXPECT_EQ(FloatToHalfBits(1.0f), 0x3c00);
  EXPECT_EQ(FloatToHalfBits(-2.0f), 0xc000);
  EXPECT_EQ(FloatToHalfBits(65504.0f), 0x7bff);
  EXPECT_EQ(FloatToHalfBits(65520.0f), 0x7c00);       // rounds to infinity
  EXPECT_EQ(FloatToHalfBits(5.9604645e-8f), 0x0001);  // the smallest subnormal
  EXPECT_EQ(FloatToHalfBits(1e-9f), 0x0000);
  EXPECT_TRUE(std::isnan(HalfBitsToFloat(FloatToHalfBits(NAN))));
}

TEST(Float16, EveryFiniteValueSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const uint16_t half = static_cast<uint16_t>(bits);
    if ((half & 0x7c00) == 0x7c00) continue;
    ASSERT_EQ(FloatToHalfBits(HalfBitsToFloat(half)), half) << bits;
  }
}

}  // namespace
}  // namespace estimator
