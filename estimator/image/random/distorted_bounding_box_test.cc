#include "estimator/image/random/distorted_bounding_box.h"

#include <limits>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/image/geometry.h"
#include "estimator/image/testing/golden_lines.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::image {
namespace {

using ::testing::ElementsAre;

// What a line "config" says.
struct Config {
  Shape image_size;
  Array boxes;
  SampleDistortedBoundingBoxOptions options;
};

std::vector<float> Floats(const std::string& text) {
  const std::vector<double> numbers = testing::ParseDoubles(text);
  return {numbers.begin(), numbers.end()};
}

Config ParseConfig(const std::vector<std::string>& words) {
  const std::vector<int64_t> size = testing::ParseInts(words.at(1));
  const std::vector<float> ratios = Floats(words.at(3)), areas = Floats(words.at(4));
  const std::vector<float> boxes = Floats(words.at(7));
  return {.image_size = {size.at(0), size.at(1), 3},
          .boxes = Array::FromSpan<float>({1, static_cast<int64_t>(boxes.size()) / 4, 4}, boxes),
          .options = {.min_object_covered = Floats(words.at(2)).at(0),
                      .aspect_ratio_range = {ratios.at(0), ratios.at(1)},
                      .area_range = {areas.at(0), areas.at(1)},
                      .max_attempts = static_cast<int>(testing::ParseInts(words.at(5)).at(0)),
                      .use_image_if_no_bounding_boxes = words.at(6) == "1"}};
}

TEST(SampleDistortedBoundingBox, DrawsTheWindowsOfTensorFlow) {
  Config config;
  int num_windows = 0, num_whole = 0;
  for (const testing::GoldenLine& line : testing::ReadGoldenLines("distorted_bounding_box.txt")) {
    SCOPED_TRACE(line.text);
    if (line.arguments.at(0) == "config") {
      config = ParseConfig(line.arguments);
      continue;
    }
    EST_ASSERT_OK_AND_ASSIGN(const DistortedBoundingBox window,
                             StatelessSampleDistortedBoundingBox(
                                 config.image_size, config.boxes,
                                 testing::ParseSeed(line.arguments.at(0)), config.options));
    const std::vector<int64_t> expected = testing::ParseInts(line.results.at(0));
    EXPECT_THAT(window.begin, ElementsAre(expected.at(0), expected.at(1), 0));
    EXPECT_THAT(window.size, ElementsAre(expected.at(2), expected.at(3), -1));
    if (line.results.size() > 1) {
      EXPECT_THAT(testing::ParseFloatBits(line.results.at(1)),
                  ::testing::ElementsAreArray(window.bboxes.values<float>()));
    }
    ++num_windows;
    num_whole += window.size[0] == config.image_size[0] && window.size[1] == config.image_size[1];
  }
  EXPECT_GE(num_windows, 500);
  EXPECT_GT(num_whole, 0);
  EXPECT_LT(num_whole, num_windows / 2);
}

TEST(SampleDistortedBoundingBox, SliceTakesTheWindow) {
  const Array image = testing::GoldenInput(DType::kUint8, {40, 30, 3});
  EST_ASSERT_OK_AND_ASSIGN(
      const DistortedBoundingBox window,
      StatelessSampleDistortedBoundingBox(image.shape(), Array(DType::kFloat32, {1, 0, 4}), {1, 2},
                                          {.use_image_if_no_bounding_boxes = true}));
  EST_ASSERT_OK_AND_ASSIGN(const Array crop, Slice(image, window.begin, window.size));
  EXPECT_EQ(crop.shape(), (Shape{window.size[0], window.size[1], 3}));
  EXPECT_LT(crop.num_elements(), image.num_elements());
  EXPECT_EQ(window.bboxes.shape(), (Shape{1, 1, 4}));
  const Box box = window.crop_window();
  EST_ASSERT_OK_AND_ASSIGN(const Array same,
                           CropToBoundingBox(image, box.y, box.x, box.height, box.width));
  EXPECT_EQ(same.values<uint8_t>(), crop.values<uint8_t>());
}

TEST(SampleDistortedBoundingBox, ErrorsHaveTheValueAndTheCure) {
  const Shape size = {40, 30, 3};
  const Array box = Array::Of<float>({1, 1, 4}, {0, 0, 1, 1});
  const auto sample = [&](const SampleDistortedBoundingBoxOptions& options) {
    return StatelessSampleDistortedBoundingBox(size, box, {1, 2}, options).status();
  };
  const auto sample_boxes = [](const Shape& image_size, const Array& boxes) {
    return StatelessSampleDistortedBoundingBox(image_size, boxes, {1, 2}).status();
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(sample({.min_object_covered = -0.1f}), ErrorHas("must be >= 0, got -0.1"));
  EXPECT_THAT(sample({.min_object_covered = kNan}), ErrorHas("must be >= 0, got nan"));
  EXPECT_THAT(sample({.aspect_ratio_range = {0, 1}}), ErrorHas("aspect_ratio_range"));
  EXPECT_THAT(sample({.aspect_ratio_range = {1, kNan}}), ErrorHas("got [1, nan]"));
  EXPECT_THAT(sample({.area_range = {0, 1}}), ErrorHas("must be within (0, 1]"));
  EXPECT_THAT(sample({.area_range = {0.1f, 1.5f}}), ErrorHas("got [0.1, 1.5]"));
  EXPECT_THAT(sample({.max_attempts = 0}), ErrorHas("max_attempts must be > 0, got 0"));
  EXPECT_THAT(sample_boxes({1, 40, 30, 3}, box), ErrorHas("must contain 3 elements"));
  EXPECT_THAT(sample_boxes({int64_t{1} << 31, 30, 3}, box), ErrorHas("got [2147483648,30,3]"));
  EXPECT_THAT(sample_boxes(size, Array(DType::kFloat32, {1, 4})), ErrorHas("got f32 [1,4]"));
  EXPECT_THAT(sample_boxes(size, Array(DType::kFloat64, {1, 1, 4})), ErrorHas("got f64 [1,1,4]"));
  EXPECT_THAT(sample_boxes(size, Array::Of<float>({1, 1, 4}, {0, 0, 20, 1})),
              ErrorHas("must be in [0.0, 1.0], got 20 in box 0; divide y by the height"));
  EXPECT_THAT(sample_boxes(size, Array::Of<float>({1, 1, 4}, {kNan, 0, 1, 1})),
              ErrorHas("must be in [0.0, 1.0], got nan"));
  EXPECT_THAT(sample_boxes(size, Array(DType::kFloat32, {1, 0, 4})),
              ErrorHas("set use_image_if_no_bounding_boxes"));
}

// Windows of extreme aspect ratios do not exist; no number overflows on the way.
TEST(SampleDistortedBoundingBox, ExtremeOptionsGiveTheWholeImage) {
  const Array box = Array::Of<float>({1, 1, 4}, {0, 0, 1, 1});
  for (const float ratio : {1e-38f, 1e-20f, 1e-12f, 1e-7f, 1e7f, 1e12f, 1e20f, 3e38f}) {
    EST_ASSERT_OK_AND_ASSIGN(const DistortedBoundingBox window,
                             StatelessSampleDistortedBoundingBox(
                                 {40, 30, 3}, box, {1, 2}, {.aspect_ratio_range = {ratio, ratio}}));
    EXPECT_THAT(window.size, ElementsAre(40, 30, -1)) << ratio;
  }
  const int64_t largest = std::numeric_limits<int32_t>::max() - 1;
  EST_EXPECT_OK(StatelessSampleDistortedBoundingBox({largest, largest, 3}, box, {1, 2}));
  EST_EXPECT_OK(StatelessSampleDistortedBoundingBox({0, 0, 3}, box, {1, 2}));
}

}  // namespace
}  // namespace estimator::image
