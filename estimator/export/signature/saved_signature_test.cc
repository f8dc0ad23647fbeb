#include "estimator/export/signature/saved_signature.h"

#include <gtest/gtest.h>

namespace estimator {
namespace {

TEST(SavedTensorTest, TakesArraysThatFillItsOpenSizes) {
  const SavedTensor image{"image:0", DType::kFloat32, Shape{Shape::kUnknownDim, 28}};
  EXPECT_EQ(image.ToString(), "f32 [?,28]");
  EXPECT_TRUE(image.Takes(DType::kFloat32, {3, 28}));
  EXPECT_FALSE(image.Takes(DType::kFloat32, {3, 27}));
  EXPECT_FALSE(image.Takes(DType::kFloat32, {28}));
  EXPECT_FALSE(image.Takes(DType::kInt32, {3, 28}));
}

TEST(SavedTensorTest, OfAnUnknownRankTakesAnyShape) {
  const SavedTensor any{"x:0", DType::kInt64, std::nullopt};
  EXPECT_EQ(any.ToString(), "i64 ?");
  EXPECT_TRUE(any.Takes(DType::kInt64, {1, 2, 3}));
  EXPECT_FALSE(any.Takes(DType::kInt32, {}));
}

}  // namespace
}  // namespace estimator
