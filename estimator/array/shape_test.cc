#include "estimator/array/shape.h"

#include "estimator/array/tensor_spec.h"
#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

TEST(Shape, CountsElementsAndPrints) {
  EXPECT_EQ((Shape{2, 3, 4}).num_elements(), 24);
  EXPECT_EQ(Shape{}.num_elements(), 1);
  EXPECT_EQ((Shape{2, 0}).num_elements(), 0);
  EXPECT_EQ((Shape{8, -1, 3}).ToString(), "[8,?,3]");
  EXPECT_EQ((TensorSpec{DType::kFloat32, Shape{8, 10}}).ToString(), "f32 [8,10]");
  EXPECT_EQ((Shape{2, 3, 4}).strides(), (std::vector<int64_t>{12, 4, 1}));
  EXPECT_EQ((Shape{2, 3, 4}).dim(-1), 4);
  EXPECT_EQ((Shape{2, 3, 4}).dim(3), Shape::kUnknownDim);
  EXPECT_EQ(Shape{}[0], Shape::kUnknownDim);
}

TEST(BroadcastShapes, FollowsNumPy) {
  EXPECT_EQ(*BroadcastShapes(Shape{8, 1, 3}, Shape{5, 1}), (Shape{8, 5, 3}));
  EXPECT_EQ(*BroadcastShapes(Shape{}, Shape{0, 2}), (Shape{0, 2}));
  EXPECT_EQ(*BroadcastShapes(Shape{1}, Shape{0}), (Shape{0}));
}

TEST(BroadcastShapes, NamesBothShapesAndTheAxis) {
  const absl::Status status = BroadcastShapes(Shape{2, 3}, Shape{4, 3}).status();
  EXPECT_THAT(status, ErrorIs("shapes [2,3] and [4,3] do not broadcast: axis -2 has 2 and 4"));
}

}  // namespace
}  // namespace estimator
