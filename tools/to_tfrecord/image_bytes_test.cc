#include "tools/to_tfrecord/image_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "estimator/array/array.h"
#include "estimator/base/testing/hex.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/image/jpeg/jpeg.h"
#include "estimator/image/png/png.h"

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

// A CMYK JPEG of 20 x 30 pixels in blocks of one color (flat_jpeg in testdata/images/pictures.py).
constexpr char kCmykJpeg[] =
    "ffd8ffee000e41646f626500640000000000ffdb004300080808080808080808080808080808080808080808"
    "08080808080808080808080808080808080808080808080808080808080808080808080808080808080808ff"
    "c00014080014001e04011100021100031100041100ffc4001b00000000080000000000000000000000000001"
    "020304050607ffc40014100100000000000000000000000000000000ffda000e040100020003000400003f00"
    "5399d364561e89b13822d0ecc49ed934d09be31c73c5c14a5c1e49d70c9a9239f21ae3b03b333c5199e3f32d"
    "0ec8fa4c41c411c82501a336a7366d4fb89c7a6417ffd9";

TEST(CheckImage, CmykBecomesAnRgbJpegIfAsked) {
  const std::string cmyk = HexToBytes(kCmykJpeg);
  EST_ASSERT_OK_AND_ASSIGN(const EncodedImage kept, CheckImage(cmyk, {}));
  EXPECT_EQ(kept.bytes, cmyk);
  EXPECT_EQ(kept.colorspace, "CMYK");
  EXPECT_EQ(kept.channels, 4);
  EST_ASSERT_OK_AND_ASSIGN(const EncodedImage rgb, CheckImage(cmyk, {.rgb_jpeg = true}));
  EXPECT_EQ(rgb.colorspace, "RGB");
  EXPECT_EQ(rgb.channels, 3);
  // As build_imagenet_data.py: decode_jpeg, then encode_jpeg(format='rgb', quality=100).
  const Array pixels = image::DecodeJpeg(cmyk).value();
  EXPECT_EQ(rgb.bytes, image::EncodeJpeg(pixels, {.quality = 100}).value());
  EXPECT_EQ(image::JpegShape(rgb.bytes).value(), pixels.shape());
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
