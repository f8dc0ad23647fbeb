#include "estimator/image/jpeg/jpeg.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::image {
namespace {

using ::testing::HasSubstr;

Array Slopes(int64_t height, int64_t width, int64_t channels) {
  Array image(DType::kUint8, {height, width, channels});
  uint8_t* out = image.data<uint8_t>();
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < channels; ++c) *out++ = static_cast<uint8_t>(2 * y + x + 40 * c);
    }
  }
  return image;
}

std::string Encoded(const Array& image, const EncodeJpegOptions& options = {}) {
  const absl::StatusOr<std::string> bytes = EncodeJpeg(image, options);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.value_or("");
}

int LargestDifference(const Array& a, const Array& b) {
  EXPECT_EQ(a.shape(), b.shape());
  int largest = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    largest = std::max(largest, std::abs(a.data<uint8_t>()[i] - b.data<uint8_t>()[i]));
  }
  return largest;
}

// Changes the 16-bit height and width in the frame header (SOF0).
std::string WithSize(std::string jpeg, int height, int width) {
  const size_t frame = jpeg.find("\xff\xc0");
  EXPECT_NE(frame, std::string::npos);
  jpeg[frame + 5] = static_cast<char>(height >> 8);
  jpeg[frame + 6] = static_cast<char>(height & 255);
  jpeg[frame + 7] = static_cast<char>(width >> 8);
  jpeg[frame + 8] = static_cast<char>(width & 255);
  return jpeg;
}

TEST(Jpeg, DecodesWhatItEncodesUpToALossOfAFewLevels) {
  for (const int64_t channels : {1, 3}) {
    const Array image = Slopes(33, 41, channels);
    const std::string bytes = Encoded(image, {.quality = 100, .chroma_downsampling = false});
    const absl::StatusOr<Array> decoded = DecodeJpeg(bytes);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_LE(LargestDifference(*decoded, image), 6);
  }
}

TEST(Jpeg, AGreyImageCropsToThePixelsOfTheWholeImage) {
  const std::string bytes = Encoded(Slopes(60, 70, 1));
  const absl::StatusOr<Array> whole = DecodeJpeg(bytes);
  const Box window = {.y = 13, .x = 21, .height = 30, .width = 33};
  const absl::StatusOr<Array> part = DecodeAndCropJpeg(bytes, window);
  ASSERT_TRUE(whole.ok() && part.ok()) << part.status();
  ASSERT_EQ(part->shape(), Shape({30, 33, 1}));
  for (int64_t y = 0; y < 30; ++y) {
    for (int64_t x = 0; x < 33; ++x) {
      EXPECT_EQ(part->data<uint8_t>()[y * 33 + x], whole->data<uint8_t>()[(y + 13) * 70 + x + 21]);
    }
  }
}

TEST(Jpeg, ShapeIsThatOfTheFileAndARatioDividesIt) {
  const std::string bytes = Encoded(Slopes(33, 41, 3));
  EXPECT_EQ(JpegShape(bytes).value(), Shape({33, 41, 3}));
  EXPECT_EQ(DecodeJpeg(bytes, {.ratio = 2})->shape(), Shape({17, 21, 3}));
  EXPECT_EQ(DecodeJpeg(bytes, {.channels = 1, .ratio = 8})->shape(), Shape({5, 6, 1}));
}

TEST(Jpeg, RefusesWindowsOutsideOfTheImage) {
  const std::string bytes = Encoded(Slopes(20, 30, 3));
  const int64_t huge = int64_t{1} << 62;
  for (const Box window : {Box{0, 0, 0, 5}, Box{0, 0, 5, 0}, Box{-1, 0, 5, 5}, Box{0, -1, 5, 5},
                           Box{16, 0, 5, 5}, Box{0, 26, 5, 5}, Box{huge, huge, huge, huge}}) {
    EXPECT_THAT(DecodeAndCropJpeg(bytes, window).status().ToString(),
                HasSubstr("the image has height 20 and width 30"));
  }
}

TEST(Jpeg, RefusesOptionsOutOfRange) {
  const std::string bytes = Encoded(Slopes(8, 8, 3));
  EXPECT_THAT(DecodeJpeg(bytes, {.channels = 4}).status().ToString(), HasSubstr("got 4"));
  EXPECT_THAT(DecodeJpeg(bytes, {.ratio = 3}).status().ToString(), HasSubstr("got 3"));
  const Array image = Slopes(8, 8, 3);
  EXPECT_THAT(EncodeJpeg(image, {.quality = 101}).status().ToString(), HasSubstr("got 101"));
  EXPECT_THAT(EncodeJpeg(image, {.format = JpegFormat::kGrayscale}).status().ToString(),
              HasSubstr("expects 1 channel, got 3"));
  EXPECT_THAT(EncodeJpeg(image, {.x_density = 70000}).status().ToString(), HasSubstr("70000"));
  EXPECT_THAT(EncodeJpeg(Slopes(8, 8, 2)).status().ToString(), HasSubstr("u8 [8,8,2]"));
  EXPECT_THAT(EncodeJpeg(Array(DType::kUint8, {0, 8, 3})).status().ToString(),
              HasSubstr("sides of 1 to 65500"));
  EXPECT_FALSE(EncodeJpeg(image, {.xmp_metadata = std::string(65505, 'x')}).ok());
  EXPECT_TRUE(EncodeJpeg(image, {.xmp_metadata = std::string(65504, 'x')}).ok());
}

TEST(Jpeg, SaysWhatOtherContentsAre) {
  EXPECT_THAT(DecodeJpeg("").status().ToString(), HasSubstr("the contents are empty"));
  EXPECT_THAT(DecodeJpeg("\x89PNG\r\n\x1a\n").status().ToString(),
              HasSubstr("the contents are PNG; DecodeImage reads it"));
  EXPECT_THAT(DecodeJpeg("hello").status().ToString(),
              HasSubstr("5 bytes that begin with \"hello\""));
  EXPECT_FALSE(IsJpeg("hello"));
  EXPECT_TRUE(IsJpeg(Encoded(Slopes(8, 8, 3))));
}

TEST(Jpeg, DamageNamesTheByteAndMissingDataTheRow) {
  std::string bytes = Encoded(Slopes(40, 40, 3));
  EXPECT_THAT(DecodeJpeg(absl::string_view(bytes).substr(0, bytes.size() - 60)).status().ToString(),
              ::testing::ContainsRegex("too early, after [0-9]+ bytes, at row [0-9]+ of 40"));
  const size_t table = bytes.find("\xff\xc4");
  bytes[table + 4] = '\x7f';  // no table has this number
  EXPECT_THAT(DecodeJpeg(bytes).status().ToString(),
              ::testing::ContainsRegex("Bogus DHT.*near byte [0-9]+ of [0-9]+"));
}

TEST(Jpeg, RefusesSizesBeforeItAllocates) {
  const std::string bytes = Encoded(Slopes(8, 8, 3));
  EXPECT_THAT(DecodeJpeg(WithSize(bytes, 65000, 65000)).status().ToString(),
              HasSubstr("Image too large: 65000 x 65000"));
  EXPECT_THAT(DecodeJpeg(WithSize(bytes, 12000, 12000)).status().ToString(),
              ::testing::ContainsRegex("12000 x 12000 needs at least [0-9]+ bytes"));
  EXPECT_FALSE(DecodeJpeg(WithSize(bytes, 0, 8)).ok());
}

TEST(Jpeg, ThreadsDecodeTheSamePixels) {
  const std::string good = Encoded(Slopes(64, 64, 3));
  const std::string bad = good.substr(0, good.size() / 2);
  const Array expected = DecodeJpeg(good).value();
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        if (DecodeJpeg(bad).ok()) ++wrong[t];
        const absl::StatusOr<Array> image = DecodeJpeg(good);
        if (!image.ok() || LargestDifference(*image, expected) != 0) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ::testing::Each(0));
}

}  // namespace
}  // namespace estimator::image
