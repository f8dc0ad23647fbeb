#include "models/imagenet/drawn_pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/image/jpeg/jpeg.h"

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

// The hues of any part of a picture are those of its class: 36 degrees times the label for the
// background and the first color, and 108 degrees more for the second color.
TEST(DrawnPicturesTest, HuesTellTheClass) {
  for (uint64_t index = 0; index < 20; ++index) {
    const DrawnPicture picture = DrawPicture(6, index);
    const uint8_t* rgb = picture.pixels.values<uint8_t>().data();
    const int64_t num_pixels = picture.pixels.num_elements() / 3;
    int64_t num_own = 0;
    for (int64_t i = 0; i < num_pixels; ++i, rgb += 3) {
      const auto [low, high] = std::minmax({rgb[0], rgb[1], rgb[2]});
      const double range = std::max(high - low, 1);
      double hue = high == rgb[0]   ? (rgb[1] - rgb[2]) / range
                   : high == rgb[1] ? 2 + (rgb[2] - rgb[0]) / range
                                    : 4 + (rgb[0] - rgb[1]) / range;
      hue = hue * 60 + 720;
      for (const int64_t of : {picture.label, picture.label + 3}) {
        const double away = std::fmod(hue - 36.0 * static_cast<double>(of), 360.0);
        if (std::min(away, 360 - away) < 18) {  // half the way to the next class
          ++num_own;
          break;
        }
      }
    }
    EXPECT_GT(num_own, num_pixels * 8 / 10) << index << ": " << num_own << " of " << num_pixels;
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

TEST(DrawnPicturesTest, SeveralLabelsAreTheBitsOfTheKind) {
  auto iterator = DrawnMultiLabelExamples(1, 25, 27, {"a", "b", "c"}).MakeIterator();
  EST_ASSERT_OK(iterator);
  const auto element = (*iterator)->Next();
  EST_ASSERT_OK(element);
  ASSERT_TRUE(element->has_value());
  EXPECT_EQ((*element)->features.at("image_name").scalar<std::string>(), "Drawn_25");
  EXPECT_EQ((*element)->features.at("image").shape(), DrawPicture(1, 25).pixels.shape());
  // Kind 5 is 101 in binary.
  EXPECT_EQ((*element)->labels.at("a").scalar<int64_t>(), 1);
  EXPECT_EQ((*element)->labels.at("b").scalar<int64_t>(), 0);
  EXPECT_EQ((*element)->labels.at("c").scalar<int64_t>(), 1);
  EXPECT_TRUE((*iterator)->Next()->has_value());
  EXPECT_FALSE((*iterator)->Next()->has_value());
}

}  // namespace
}  // namespace estimator::imagenet
