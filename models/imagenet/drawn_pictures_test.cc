#include "models/imagenet/drawn_pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/image/jpeg.h"

namespace estimator::imagenet {
namespace {

TEST(DrawnPicturesTest, DependOnSeedAndIndexOnly) {
  const DrawnPicture picture = DrawPicture(1, 25);
  EXPECT_EQ(picture.label, 5);
  const DrawnPicture again = DrawPicture(1, 25);
  EXPECT_EQ(picture.pixels.shape(), again.pixels.shape());
  EXPECT_EQ(picture.pixels.values<uint8_t>(), again.pixels.values<uint8_t>());
  EXPECT_NE(picture.pixels.values<uint8_t>(), DrawPicture(2, 25).pixels.values<uint8_t>());
  EXPECT_NE(picture.pixels.values<uint8_t>(), DrawPicture(1, 35).pixels.values<uint8_t>());
}

TEST(DrawnPicturesTest, HaveManySizesWithinTheBounds) {
  std::set<int64_t> heights, widths;
  for (uint64_t index = 0; index < 200; ++index) {
    const Shape shape = DrawPicture(3, index).pixels.shape();
    ASSERT_EQ(shape.rank(), 3);
    EXPECT_EQ(shape[2], 3);
    heights.insert(shape[0]);
    widths.insert(shape[1]);
  }
  EXPECT_GE(*heights.begin(), 72);
  EXPECT_LE(*heights.rbegin(), 128);
  EXPECT_GE(*widths.begin(), 72);
  EXPECT_LE(*widths.rbegin(), 128);
  EXPECT_GT(heights.size(), 30u);
}

// The center of a plain figure has one color, and that of the other textures two.
TEST(DrawnPicturesTest, TexturesCanBeSeen) {
  for (uint64_t index = 0; index < 50; ++index) {
    const DrawnPicture picture = DrawPicture(5, index);
    const int64_t height = picture.pixels.shape()[0], width = picture.pixels.shape()[1];
    const int64_t half = std::min(height, width) / 7;  // within the figure
    int lowest = 255, highest = 0;
    for (int c = 0; c < 3; ++c) {
      int low = 255, high = 0;
      for (int64_t y = height / 2 - half; y < height / 2 + half; ++y) {
        for (int64_t x = width / 2 - half; x < width / 2 + half; ++x) {
          const int value = picture.pixels.values<uint8_t>()[(y * width + x) * 3 + c];
          low = std::min(low, value);
          high = std::max(high, value);
        }
      }
      if (high - low > highest - lowest || c == 0) lowest = low, highest = high;
    }
    const bool is_plain = DrawnClassName(picture.label) == "plain";
    EXPECT_EQ(highest - lowest < 45, is_plain)
        << index << " " << DrawnClassName(picture.label) << " " << lowest << " " << highest;
  }
}

TEST(DrawnPicturesTest, ExamplesHaveTheFeaturesOfImageNet) {
  const absl::StatusOr<std::string> example = DrawnExample(1, 27);
  EST_ASSERT_OK(example);
  const auto parsed =
      ParseSingleExample(*example, {{"image/encoded", FixedLenFeature{.dtype = DType::kString}},
                                    {"image/class/label", FixedLenFeature{.dtype = DType::kInt64}},
                                    {"image/class/text", FixedLenFeature{.dtype = DType::kString}},
                                    {"image/height", FixedLenFeature{.dtype = DType::kInt64}},
                                    {"image/width", FixedLenFeature{.dtype = DType::kInt64}}});
  EST_ASSERT_OK(parsed);
  EXPECT_EQ(parsed->at("image/class/label").scalar<int64_t>(), 8);  // 1-based
  EXPECT_EQ(parsed->at("image/class/text").scalar<std::string>(), "spokes");
  const auto shape = image::JpegShape(parsed->at("image/encoded").scalar<std::string>());
  EST_ASSERT_OK(shape);
  EXPECT_EQ(*shape, DrawPicture(1, 27).pixels.shape());
  EXPECT_EQ(parsed->at("image/height").scalar<int64_t>(), (*shape)[0]);
  EXPECT_EQ(parsed->at("image/width").scalar<int64_t>(), (*shape)[1]);
}

TEST(DrawnPicturesTest, TheDatasetHasTheExamplesOfItsRange) {
  const Dataset dataset = DrawnExamples(4, 100, 3);
  EXPECT_EQ(dataset.Cardinality(), 3);
  auto iterator = dataset.MakeIterator();
  EST_ASSERT_OK(iterator);
  for (uint64_t index = 100; index < 103; ++index) {
    const auto element = (*iterator)->Next();
    EST_ASSERT_OK(element);
    ASSERT_TRUE(element->has_value());
    EXPECT_EQ((*element)->features.Only()->scalar<std::string>(), *DrawnExample(4, index));
  }
  EXPECT_FALSE((*iterator)->Next()->has_value());
}

}  // namespace
}  // namespace estimator::imagenet
