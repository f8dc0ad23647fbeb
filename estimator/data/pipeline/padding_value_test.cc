#include "estimator/data/pipeline/padding_value.h"

#include <gtest/gtest.h>

#include <limits>

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
  EXPECT_EQ(PaddingValue(-1, DType::kUint8).status().message(),
            "the padding -1 is no uint8; give one that is");
  for (const double value : {0.5, 1e19, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(PaddingValue(value, DType::kInt64).status().code(),
              absl::StatusCode::kInvalidArgument)
        << value;
  }
}

}  // namespace
}  // namespace estimator
