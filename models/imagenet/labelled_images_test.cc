#include "models/imagenet/labelled_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/image/image.h"
#include "estimator/records/tfrecord.h"

namespace estimator::imagenet {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A grey picture whose pixels are `value`, with a label.
std::string Record(uint8_t value, int64_t label) {
  Array pixels(DType::kUint8, {4, 6, 3});
  for (uint8_t& pixel : pixels.values<uint8_t>()) pixel = value;
  return ExampleBuilder()
      .Bytes("image", {image::EncodePng(pixels).value()})
      .Ints("class", {label})
      .Serialize();
}

// `num_files` files of two records, whose labels are the number of the file modulo 5.
void WriteFiles(const TempDir& dir, int num_files, int64_t add_to_label = 0) {
  for (int i = 0; i < num_files; ++i) {
    auto writer = TFRecordWriter::Open(dir.File(absl::StrCat("flowers0", i, "-2.tfrec"))).value();
    for (int j = 0; j < 2; ++j)
      EST_ASSERT_OK(writer->Write(Record(static_cast<uint8_t>(i), i % 5 + add_to_label)));
    EST_ASSERT_OK(writer->Close());
  }
}

std::vector<int> FirstPixels(const LabelledImages& data) {
  std::vector<int> pixels;
  const auto iterator = data.Decoded(data.records).MakeIterator().value();
  while (const auto element = iterator->Next().value()) {
    const Array image = element->features.Only().value();
    EXPECT_EQ(image.dtype(), DType::kUint8);
    EXPECT_EQ(image.shape(), Shape({8, 8, 3}));
    pixels.push_back(image.values<uint8_t>()[0]);
  }
  return pixels;
}

TEST(LabelledImages, CountTheStepsOfAnEpoch) {
  const auto steps = [](int64_t count) {
    return LabelledImages{Dataset::Range(0, 1), nullptr, count}.StepsPerEpoch(16);
  };
  EXPECT_EQ(steps(35).value(), 2);
  EXPECT_EQ(steps(16).value(), 1);
  EXPECT_EQ(steps(0).value(), std::nullopt);
  EXPECT_THAT(
      steps(13),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("there are 13 images for training, fewer than a batch of 16"),
                     HasSubstr("give more images, or a smaller batch"))));
}

TEST(LabelledImages, AreDividedByFile) {
  const TempDir dir;
  WriteFiles(dir, 6);
  const LabelledImagesOptions options = {.data_dir = dir.path(), .image_size = 8};
  const LabelledImages training = LoadLabelledImages(options, /*training=*/true).value();
  EXPECT_EQ(training.count, 10);
  EXPECT_THAT(FirstPixels(training), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3, 4, 4));
  const LabelledImages validation = LoadLabelledImages(options, /*training=*/false).value();
  EXPECT_EQ(validation.count, 2);
  EXPECT_THAT(FirstPixels(validation), ElementsAre(5, 5));
}

TEST(LabelledImages, RefuseFewerFilesThanASplitNeeds) {
  const TempDir dir;
  WriteFiles(dir, 5);
  EXPECT_THAT(LoadLabelledImages({.data_dir = dir.path()}, true).status().ToString(),
              AllOf(HasSubstr("has 5 files *.tfrec"), HasSubstr("divide the data into more")));
}

TEST(LabelledImages, RefuseALabelOutOfRange) {
  const TempDir dir;
  WriteFiles(dir, 6, /*add_to_label=*/4);
  const LabelledImages data =
      LoadLabelledImages({.data_dir = dir.path(), .image_size = 8}, true).value();
  const auto iterator = data.Decoded(data.records).MakeIterator().value();
  EST_EXPECT_OK(iterator->Next());
  EST_EXPECT_OK(iterator->Next());
  EXPECT_THAT(iterator->Next().status().ToString(),
              HasSubstr("feature 'class': the label is 5, but must be in [0, 5)"));
}

TEST(LabelledImages, AreDrawnWithoutAFolder) {
  const LabelledImagesOptions options = {.image_size = 8, .num_drawn = 40};
  const LabelledImages training = LoadLabelledImages(options, /*training=*/true).value();
  const LabelledImages validation = LoadLabelledImages(options, /*training=*/false).value();
  EXPECT_EQ(FirstPixels(training).size(), 40u);
  EXPECT_EQ(FirstPixels(validation).size(), 10u);
}

}  // namespace
}  // namespace estimator::imagenet
