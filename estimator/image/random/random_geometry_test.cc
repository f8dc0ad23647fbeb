#include "estimator/image/random/random_geometry.h"

#include <map>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/image/geometry.h"
#include "estimator/image/testing/golden_lines.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::image {
namespace {

TEST(RandomGeometry, CropsWhereTensorFlowCrops) {
  int num_lines = 0;
  for (const testing::GoldenLine& line : testing::ReadGoldenLines("random_geometry.txt")) {
    if (line.arguments.at(0) != "crop") continue;
    SCOPED_TRACE(line.text);
    ++num_lines;
    const Shape size(testing::ParseInts(line.arguments.at(3)));
    Array value(DType::kInt32, Shape(testing::ParseInts(line.arguments.at(2))));
    for (int32_t i = 0; i < value.num_elements(); ++i) value.data<int32_t>()[i] = i;
    EST_ASSERT_OK_AND_ASSIGN(
        const Array crop,
        StatelessRandomCrop(value, size, testing::ParseSeed(line.arguments.at(1))));
    EST_ASSERT_OK_AND_ASSIGN(const Array expected,
                             Slice(value, testing::ParseInts(line.results.at(0)), size.dims()));
    ASSERT_EQ(crop.shape(), size);
    EXPECT_EQ(crop.values<int32_t>(), expected.values<int32_t>());
  }
  EXPECT_GE(num_lines, 60);
}

TEST(RandomGeometry, FlipsWhatTensorFlowFlips) {
  std::map<bool, int> counts;
  for (const testing::GoldenLine& line : testing::ReadGoldenLines("random_geometry.txt")) {
    const bool left_right = line.arguments.at(0) == "flip_left_right";
    if (!left_right && line.arguments.at(0) != "flip_up_down") continue;
    SCOPED_TRACE(line.text);
    const Array image =
        testing::GoldenInput(DType::kUint8, Shape(testing::ParseInts(line.arguments.at(2))));
    const Seed seed = testing::ParseSeed(line.arguments.at(1));
    EST_ASSERT_OK_AND_ASSIGN(const Array result, left_right
                                                     ? StatelessRandomFlipLeftRight(image, seed)
                                                     : StatelessRandomFlipUpDown(image, seed));
    ASSERT_EQ(result.shape(), image.shape());
    const bool batch = image.shape().rank() == 4;
    const std::vector<int64_t> flipped = testing::ParseInts(line.results.at(0));
    ASSERT_EQ(static_cast<int64_t>(flipped.size()), batch ? image.shape().dim(0) : 1);
    for (size_t i = 0; i < flipped.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      const Array before = batch ? image.Row(row) : image;
      const Array after = batch ? result.Row(row) : result;
      EST_ASSERT_OK_AND_ASSIGN(const Array mirrored,
                               left_right ? FlipLeftRight(before) : FlipUpDown(before));
      EXPECT_EQ(after.values<uint8_t>(), (flipped[i] ? mirrored : before).values<uint8_t>());
      ++counts[flipped[i]];
    }
  }
  EXPECT_GE(counts[false], 50);
  EXPECT_GE(counts[true], 50);
}

TEST(RandomGeometry, ErrorsHaveBothValuesAndTheCure) {
  const Array image(DType::kUint8, {3, 4, 3});
  EXPECT_THAT(StatelessRandomCrop(image, {4, 4, 3}, {1, 2}),
              ErrorIs("StatelessRandomCrop: need value.shape >= size >= 0 for each axis, got a "
                      "value of [3,4,3] and size=[4,4,3]; pad or resize the value first, or give a "
                      "smaller size"));
  EXPECT_THAT(StatelessRandomCrop(image, {2, 2}, {1, 2}), ErrorHas("size=[2,2]"));
  EXPECT_THAT(StatelessRandomCrop(image, {2, -1, 3}, {1, 2}), ErrorHas("need value.shape >= size"));
  EXPECT_THAT(StatelessRandomFlipLeftRight(Array(DType::kUint8, {3, 4}), {1, 2}),
              ErrorHas("StatelessRandomFlipLeftRight: image must have either 3 or 4 dimensions"));
}

}  // namespace
}  // namespace estimator::image
