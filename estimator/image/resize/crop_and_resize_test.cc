#include "estimator/image/resize/crop_and_resize.h"

#include <limits>

#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::image {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CropAndResizeTest : public ::testing::Test {
 protected:
  const Array image_ = Array::Of<uint8_t>({1, 2, 2, 1}, {0, 10, 20, 30});
  const Array index_ = Array::Of<int32_t>({1}, {0});
};

TEST_F(CropAndResizeTest, TheCornersOfABoxAreTheCornersOfTheCrop) {
  EST_ASSERT_OK_AND_ASSIGN(
      const Array crop,
      CropAndResize(image_, Array::Of<float>({1, 4}, {0, 0, 1, 1}), index_, {1, 3}));
  EXPECT_EQ(crop.shape(), (Shape{1, 1, 3, 1}));
  EXPECT_THAT(crop.values<float>(), ElementsAre(10, 15, 20));
}

TEST_F(CropAndResizeTest, ReversedCoordinatesFlip) {
  EST_ASSERT_OK_AND_ASSIGN(
      const Array crop,
      CropAndResize(image_, Array::Of<float>({1, 4}, {1, 1, 0, 0}), index_, {2, 2}));
  EXPECT_THAT(crop.values<float>(), ElementsAre(30, 20, 10, 0));
}

TEST_F(CropAndResizeTest, ExtrapolatesOutsideOfTheImage) {
  EST_ASSERT_OK_AND_ASSIGN(const Array crop,
                           CropAndResize(image_, Array::Of<float>({1, 4}, {0, 0, 0, 2}), index_,
                                         {1, 3}, {.extrapolation_value = -1}));
  EXPECT_THAT(crop.values<float>(), ElementsAre(0, 10, -1));
}

TEST_F(CropAndResizeTest, NoBoxesGiveNoCrops) {
  EST_ASSERT_OK_AND_ASSIGN(const Array none, CropAndResize(image_, Array(DType::kFloat32, {0, 4}),
                                                           Array(DType::kInt32, {0}), {2, 3}));
  EXPECT_EQ(none.shape(), (Shape{0, 2, 3, 1}));
}

TEST_F(CropAndResizeTest, NamesWhatIsWrong) {
  const Array box = Array::Of<float>({1, 4}, {0, 0, 1, 1});
  EXPECT_THAT(CropAndResize(image_.Row(0), box, index_, {2, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("got u8 [2,2,1]")));
  EXPECT_THAT(CropAndResize(image_, box.Row(0), index_, {2, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("got f32 [4] and i32 [1]")));
  EXPECT_THAT(CropAndResize(image_, box, Array::Of<int32_t>({2}, {0, 0}), {2, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("f32 [1,4] and i32 [2]")));
  EXPECT_THAT(CropAndResize(image_, box, Array::Of<int32_t>({1}, {1}), {2, 2}),
              StatusIs(absl::StatusCode::kOutOfRange,
                       HasSubstr("box_indices[0] is 1, but the batch has 1 image")));
  EXPECT_THAT(CropAndResize(image_, box, index_, {2, 0}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("got {2, 0}")));
  EXPECT_THAT(CropAndResize(image_, box, index_, {2, 2}, {.method = ResizeMethod::kArea}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("kNearestNeighbor")));
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(CropAndResize(image_, Array::Of<float>({1, 4}, {0, 0, infinity, 1}), index_, {2, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("coordinate 2 of box 0")));
}

}  // namespace
}  // namespace estimator::image
