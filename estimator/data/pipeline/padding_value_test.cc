#include "estimator/data/pipeline/padding_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

TEST(PaddingValue, HasTheDType) {
  EXPECT_EQ(PaddingValue(-1, DType::kInt64)->scalar<int64_t>(), -1);
  EXPECT_EQ(PaddingValue(255, DType::kUint8)->scalar<uint8_t>(), 255);
  EXPECT_EQ(PaddingValue(0.1, DType::kFloat32)->scalar<float>(), 0.1f);
  EXPECT_EQ(PaddingValue(0, DType::kString)->scalar<std::string>(), "");
}

// Such a conversion is undefined in C++.
TEST(PaddingValue, WhatAnIntegerCannotHoldIsRefused) {
  EXPECT_THAT(PaddingValue(-1, DType::kUint8),
              ErrorIs("the padding -1 cannot be represented in uint8; give another value"));
  for (const double value : {0.5, 1e19, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(PaddingValue(value, DType::kInt64), StatusIs(absl::StatusCode::kInvalidArgument))
        << value;
  }
}

}  // namespace
}  // namespace estimator
