#include "tools/to_tfrecord/image_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "estimator/array/array.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/image/jpeg.h"
#include "estimator/image/png.h"

namespace estimator {
namespace {

// An image that does not compress well.
Array Noise(int64_t channels) {
  Array image(DType::kUint8, {20, 30, channels});
  uint32_t state = 1;
  for (uint8_t& pixel : image.values<uint8_t>()) {
    state = state * 1664525 + 1013904223;
    pixel = static_cast<uint8_t>(state >> 24);
  }
  return image;
}

TEST(CheckImage, KeepsTheBytesAndReadsTheShape) {
  const std::string jpeg = image::EncodeJpeg(Noise(3)).value();
  EST_ASSERT_OK_AND_ASSIGN(const EncodedImage image, CheckImage(jpeg, {}));
  EXPECT_EQ(image.bytes, jpeg);
  EXPECT_EQ(image.format, "JPEG");
  EXPECT_EQ(image.colorspace, "RGB");
  EXPECT_EQ(image.height, 20);
  EXPECT_EQ(image.width, 30);
  EXPECT_EQ(image.channels, 3);
}

TEST(CheckImage, NamesTheColorspaceByFormatAndChannels) {
  const auto colorspace = [](const std::string& bytes) {
    return CheckImage(bytes, {}).value().colorspace;
  };
  EXPECT_EQ(colorspace(image::EncodeJpeg(Noise(1)).value()), "Grayscale");
  EXPECT_EQ(colorspace(image::EncodePng(Noise(1)).value()), "Grayscale");
  EXPECT_EQ(colorspace(image::EncodePng(Noise(2)).value()), "GrayscaleAlpha");
  EXPECT_EQ(colorspace(image::EncodePng(Noise(3)).value()), "RGB");
  EXPECT_EQ(colorspace(image::EncodePng(Noise(4)).value()), "RGBA");
}

TEST(CheckImage, PngBecomesAnRgbJpegIfAskedAndJpegStays) {
  const ImageBytesOptions rgb_jpeg = {.rgb_jpeg = true};
  EST_ASSERT_OK_AND_ASSIGN(const EncodedImage png,
                           CheckImage(image::EncodePng(Noise(4)).value(), rgb_jpeg));
  EXPECT_EQ(png.format, "JPEG");
  EXPECT_EQ(png.channels, 3);
  EXPECT_EQ(image::JpegShape(png.bytes).value(), (Shape{20, 30, 3}));
  const std::string gray = image::EncodeJpeg(Noise(1)).value();
  EST_ASSERT_OK_AND_ASSIGN(const EncodedImage kept, CheckImage(gray, rgb_jpeg));
  EXPECT_EQ(kept.bytes, gray);
  EXPECT_EQ(kept.channels, 1);
}

TEST(CheckImage, DamageIsFoundByDecoding) {
  for (const std::string& whole :
       {image::EncodeJpeg(Noise(3)).value(), image::EncodePng(Noise(3)).value()}) {
    const std::string half = whole.substr(0, whole.size() / 2 + 200);
    EXPECT_THAT(CheckImage(half, {}).status(), StatusIs(absl::StatusCode::kInvalidArgument));
    EST_EXPECT_OK(CheckImage(half, {.decode = false}));
  }
}

TEST(CheckImage, OtherFilesAreNamed) {
  EXPECT_THAT(CheckImage("", {}).status(), ErrorIs("the file is empty"));
  EXPECT_THAT(CheckImage("GIF89a....", {}).status(), ErrorIs("neither JPEG nor PNG, but GIF"));
  EXPECT_THAT(CheckImage("hello", {}).status(), ErrorHas("neither JPEG nor PNG, but"));
}

}  // namespace
}  // namespace estimator
