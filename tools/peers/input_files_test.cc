#include "tools/peers/input_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/image/jpeg/jpeg.h"
#include "estimator/records/tfrecord.h"

namespace estimator::peers {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(InputFiles, ExamplesAreDividedAmongFourFilesAndHaveAllFeatures) {
  const TempDir dir;
  const auto files = WriteSmallExamples(dir.File("w"), 50);
  EST_ASSERT_OK(files);
  ASSERT_THAT(*files, SizeIs(4));
  EXPECT_THAT(SmallSpecs(), SizeIs(13 + 26 + 1));
  int count = 0;
  for (const std::string& file : *files) {
    const auto reader = TFRecordReader::Open(file);
    EST_ASSERT_OK(reader);
    while (true) {
      const auto record = (*reader)->Next();
      EST_ASSERT_OK(record);
      if (!record->has_value()) break;
      EST_EXPECT_OK(ParseSingleExample(**record, SmallSpecs()));
      ++count;
    }
  }
  EXPECT_EQ(count, 50);
}

TEST(InputFiles, CropsAreInsideOfTheirPicturesAndTheSameEachTime) {
  const TempDir dir;
  const auto files = WriteJpegs(dir.path(), "");
  EST_ASSERT_OK(files);
  ASSERT_THAT(*files, SizeIs(1));
  const auto shape = image::JpegShape((*files)[0]);
  EST_ASSERT_OK(shape);
  const auto crops = WriteCrops(dir.path(), *files);
  EST_ASSERT_OK(crops);
  ASSERT_THAT(*crops, SizeIs(8));
  int flips = 0;
  for (const Crop& crop : *crops) {
    EXPECT_TRUE(crop.window.IsWithin(shape->dim(0), shape->dim(1)));
    flips += crop.flip;
  }
  EXPECT_GT(flips, 0);
  EXPECT_LT(flips, 8);
  const std::string bytes = *ReadFile(dir.File("crops.bin"));
  EXPECT_THAT(bytes, SizeIs(8 * 7 * 4));
  EXPECT_EQ(static_cast<unsigned char>(bytes[12]) + 256 * static_cast<unsigned char>(bytes[13]),
            (*crops)[0].window.height);
  EST_ASSERT_OK(WriteCrops(dir.path(), *files));
  EXPECT_EQ(*ReadFile(dir.File("crops.bin")), bytes);
}

TEST(InputFiles, AFolderWithoutJpegsIsAnError) {
  const TempDir dir;
  const absl::Status status = WriteJpegs(dir.File("w"), dir.path()).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("has no file that ends in .jpg"));
}

}  // namespace
}  // namespace estimator::peers
