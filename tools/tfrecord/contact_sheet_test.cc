#include "tools/tfrecord/contact_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "estimator/array/array.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/image/png/png.h"
#include "estimator/image/text.h"
#include "estimator/records/tfrecord.h"

namespace estimator {
namespace {

class ContactSheetTest : public ::testing::Test {
 protected:
  // Images of one pixel with the grays 0, 10, 20, ...
  std::string Write(int count) {
    const auto writer = TFRecordWriter::Open(dir_.File("a")).value();
    for (int i = 0; i < count; ++i) {
      const auto gray = static_cast<uint8_t>(10 * i);
      EST_EXPECT_OK(writer->Write(
          ExampleBuilder()
              .Bytes("image/encoded",
                     {image::EncodePng(Array::Of<uint8_t>({1, 1, 1}, {gray})).value()})
              .Ints("image/class/label", {i})
              .Serialize()));
    }
    EST_EXPECT_OK(writer->Close());
    return dir_.File("a");
  }
  const TempDir dir_;
};

TEST_F(ContactSheetTest, TheSeedSelectsDifferentRecordsAndTheirOrderIsThatOfTheFile) {
  const std::string file = Write(20);
  std::set<int> first_grays;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    EST_ASSERT_OK_AND_ASSIGN(const Array sheet,
                             DrawContactSheet({file}, InputCompression::kAuto,
                                              {.num_images = 4, .side = 16, .seed = seed}));
    // Two columns and two rows; the gap is 6 pixels, and two lines of text are below an image.
    const int64_t rows = 16 + 2 * image::TextFont::Open(9).value()->line_height() + 6;
    EXPECT_EQ(sheet.shape(), (Shape{6 + 2 * rows, 6 + 2 * (16 + 6), 3}));
    const auto gray = [&](int64_t row, int64_t column) {
      return sheet.data<uint8_t>()[((6 + row * rows) * sheet.shape()[1] + 6 + column * 22) * 3];
    };
    EXPECT_LT(gray(0, 0), gray(0, 1));
    EXPECT_LT(gray(0, 1), gray(1, 0));
    EXPECT_LT(gray(1, 0), gray(1, 1));
    first_grays.insert(gray(0, 0));
  }
  EXPECT_GT(first_grays.size(), 2u);
}

TEST_F(ContactSheetTest, LabelsAreDrawnBelowTheImage) {
  EST_ASSERT_OK_AND_ASSIGN(const Array with,
                           DrawContactSheet({Write(2)}, InputCompression::kAuto, {.side = 16}));
  EST_ASSERT_OK_AND_ASSIGN(
      const Array without,
      DrawContactSheet({dir_.File("a")}, InputCompression::kAuto, {.side = 16, .label_key = ""}));
  ASSERT_EQ(with.shape(), without.shape());
  int64_t different = 0;
  for (int64_t i = 0; i < with.num_elements(); ++i) {
    if (with.data<uint8_t>()[i] == without.data<uint8_t>()[i]) continue;
    const int64_t row = i / (with.shape()[1] * 3);
    EXPECT_GE(row, 6 + 16);
    ++different;
  }
  EXPECT_GT(different, 30);  // the pixels of "0" and "1"
}

TEST_F(ContactSheetTest, FilesWithoutRecordsAreAnError) {
  EXPECT_THAT(DrawContactSheet({Write(0)}, InputCompression::kAuto, {}).status(),
              ErrorHas("the files have no records"));
}

}  // namespace
}  // namespace estimator
