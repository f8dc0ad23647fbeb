#include "models/imagenet/resnet_preprocessing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/image/jpeg/jpeg.h"
#include "estimator/image/png/png.h"

namespace estimator::imagenet {
namespace {

using ::testing::HasSubstr;

// A picture whose red is the row and whose green is the column.
Array Ramp(int64_t height, int64_t width) {
  Array image(DType::kUint8, Shape({height, width, 3}));
  auto* out = image.data<uint8_t>();
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      *out++ = static_cast<uint8_t>(y);
      *out++ = static_cast<uint8_t>(x);
      *out++ = 77;
    }
  }
  return image;
}
std::string Png(const Array& image) { return *image::EncodePng(image); }

float At(const Array& image, int64_t y, int64_t x, int64_t c) {
  return image.values<float>()[(y * image.shape()[1] + x) * 3 + c];
}

// int(32 / 64 * 100) = 50 pixels from (25, 75), resized to 32: TensorFlow 1's bicubic without half
// pixel centers puts output pixel i at 25 + i * 50 / 32.
TEST(ResnetPreprocessingTest, EvaluationTakesTheCenterWithAPadding) {
  const absl::StatusOr<Array> image = PreprocessForEval(Png(Ramp(100, 200)), 32);
  EST_ASSERT_OK(image);
  EXPECT_EQ(image->TypeString(), "f32 [32,32,3]");
  for (const int64_t i : {1, 8, 16, 30}) {
    EXPECT_NEAR(At(*image, i, 5, 0), 25 + static_cast<double>(i) * 50 / 32, 0.2) << i;
    EXPECT_NEAR(At(*image, 5, i, 1), 75 + static_cast<double>(i) * 50 / 32, 0.2) << i;
  }
  EXPECT_NEAR(At(*image, 3, 3, 2), 77, 1e-3);
}

TEST(ResnetPreprocessingTest, JpegAndPngOfOnePictureAgree) {
  const Array ramp = Ramp(90, 120);
  const absl::StatusOr<Array> png = PreprocessForEval(Png(ramp), 48);
  const absl::StatusOr<Array> jpeg = PreprocessForEval(
      *image::EncodeJpeg(ramp, {.quality = 100, .chroma_downsampling = false}), 48);
  EST_ASSERT_OK(png);
  EST_ASSERT_OK(jpeg);
  for (int64_t i = 0; i < png->num_elements(); ++i)
    ASSERT_NEAR(png->values<float>()[i], jpeg->values<float>()[i], 8) << i;
}

TEST(ResnetPreprocessingTest, TrainingDrawsOtherWindowsForOtherElementsOnly) {
  const std::string bytes = Png(Ramp(100, 120));
  std::set<std::vector<float>> seen;
  for (uint64_t element = 0; element < 20; ++element) {
    RandomStream random(5, element), again(5, element);
    const absl::StatusOr<Array> image = PreprocessForTrain(bytes, 24, random);
    const absl::StatusOr<Array> same = PreprocessForTrain(bytes, 24, again);
    EST_ASSERT_OK(image);
    EXPECT_EQ(image->TypeString(), "f32 [24,24,3]");
    EXPECT_EQ(image->values<float>(), same->values<float>());
    seen.insert(std::vector<float>(image->values<float>().begin(), image->values<float>().end()));
  }
  EXPECT_EQ(seen.size(), 20u);
}

// From the first and last pixels of the ramp, the window of each example is known: its area must be
// in [8%, 100%], its shape in [3/4, 4/3], and about half of the examples are mirrored.
TEST(ResnetPreprocessingTest, WindowsHaveTheAreasAndShapesOfTheOriginal) {
  constexpr int64_t kHeight = 120, kWidth = 160, kSize = 32;
  const std::string bytes = Png(Ramp(kHeight, kWidth));
  int num_mirrored = 0, num_small = 0;
  for (uint64_t element = 0; element < 200; ++element) {
    RandomStream random(9, element);
    const absl::StatusOr<Array> image = PreprocessForTrain(bytes, kSize, random);
    EST_ASSERT_OK(image);
    // Pixels 4 and 20 are 16 of 32 pixels apart: half of the window.
    const double height = 2 * (At(*image, 20, 9, 0) - At(*image, 4, 9, 0));
    const double width = 2 * (At(*image, 9, 20, 1) - At(*image, 9, 4, 1));
    num_mirrored += width < 0;
    const double area = std::abs(height * width) / (kHeight * kWidth);
    EXPECT_GT(area, 0.08 * 0.9) << element;
    EXPECT_LT(area, 1.02) << element;
    num_small += area < 0.5;
    const double aspect = std::abs(width) / height;
    EXPECT_GT(aspect, 3. / 4 * 0.93) << element;
    EXPECT_LT(aspect, 4. / 3 * 1.07) << element;
  }
  EXPECT_GT(num_mirrored, 70);
  EXPECT_LT(num_mirrored, 130);
  EXPECT_GT(num_small, 40);
  EXPECT_LT(num_small, 160);
}

// No window with a shape of 3/4 to 4/3 and 8% of the area fits into a strip, so that the window is
// that of evaluation.
TEST(ResnetPreprocessingTest, AStripIsCroppedAtItsCenter) {
  const std::string bytes = Png(Ramp(240, 8));
  const absl::StatusOr<Array> center = PreprocessForEval(bytes, 16);
  EST_ASSERT_OK(center);
  bool is_mirrored = false, is_equal = false;
  for (uint64_t element = 0; element < 20; ++element) {
    RandomStream random(1, element);
    const absl::StatusOr<Array> image = PreprocessForTrain(bytes, 16, random);
    EST_ASSERT_OK(image);
    const bool mirrored = At(*image, 0, 0, 1) > At(*image, 0, 15, 1);
    (mirrored ? is_mirrored : is_equal) = true;
    for (int64_t x = 0; x < 16; ++x)
      EXPECT_EQ(At(*image, 7, x, 1), At(*center, 7, mirrored ? 15 - x : x, 1));
  }
  EXPECT_TRUE(is_mirrored && is_equal);
}

TEST(ResnetPreprocessingTest, AnImageOfOnePixelAndAGreyImageWork) {
  EXPECT_EQ(At(*PreprocessForEval(Png(Ramp(1, 1)), 8), 3, 3, 2), 77);
  Array grey(DType::kUint8, Shape({20, 30, 1}));
  grey.data<uint8_t>()[0] = 200;
  for (const std::string& bytes : {Png(grey), *image::EncodeJpeg(grey)}) {
    const absl::StatusOr<Array> image = PreprocessForEval(bytes, 8);
    EST_ASSERT_OK(image);
    EXPECT_EQ(image->TypeString(), "f32 [8,8,3]");
  }
}

TEST(ResnetPreprocessingTest, DamagedImagesAreErrors) {
  RandomStream random(1);
  const std::string jpeg = *image::EncodeJpeg(Ramp(40, 40));
  for (const std::string& bytes : {std::string(), std::string("no image"), jpeg.substr(0, 30)}) {
    EXPECT_THAT(PreprocessForEval(bytes, 8).status(), StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(PreprocessForTrain(bytes, 8, random).status(),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(PreprocessForEval(jpeg, 0).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("image_size")));
}

}  // namespace
}  // namespace estimator::imagenet
