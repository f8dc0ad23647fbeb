#include "estimator/image/decode_image.h"

#include <string>

#include "estimator/image/bmp.h"
#include "estimator/image/jpeg/jpeg.h"
#include "estimator/image/png/png.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::image {
namespace {

using ::testing::HasSubstr;

TEST(DecodeImage, RecognizesFormats) {
  const Array grey = Array::Of<uint8_t>({1, 2, 1}, {10, 255});
  const std::string png = EncodePng(grey).value();
  const std::string jpeg = EncodeJpeg(grey).value();
  EXPECT_EQ(DecodeImage(png, {.channels = 3})->shape(), Shape({1, 2, 3}));
  EXPECT_EQ(DecodeImage(jpeg, {.channels = 3})->shape(), Shape({1, 2, 3}));
  EXPECT_THAT(DecodeImage(png, {.dtype = DType::kInt32})->values<int32_t>(),
              ::testing::ElementsAre(2570, 65535));
  EXPECT_THAT(DecodeImage(png, {.dtype = DType::kFloat32})->values<float>(),
              ::testing::ElementsAre(::testing::FloatNear(10 / 255.0f, 1e-6f), 1));
}

// A fixed bug: a file with a color profile behind its pixels was refused.
TEST(DecodeBmp, BytesBehindThePixelsAreIgnored) {
  std::string bmp(54, '\0');  // the header of a grey image of 1 x 2 pixels
  bmp[0] = 'B';
  bmp[1] = 'M';
  bmp[10] = 54;                             // where the pixels begin
  bmp[18] = 2;                              // width
  bmp[22] = 1;                              // height
  bmp[28] = 8;                              // bits of a pixel
  const std::string pixels = {5, 9, 0, 0};  // a row has a multiple of 4 bytes
  for (const std::string profile : {"", "a color profile"}) {
    EXPECT_THAT(DecodeBmp(bmp + pixels + profile)->values<uint8_t>(), ::testing::ElementsAre(5, 9));
  }
  EXPECT_THAT(DecodeBmp(bmp + "\5\11").status().ToString(), HasSubstr("there are 56"));
}

TEST(DecodeImage, NamesWhatItCannotDecode) {
  EXPECT_EQ(DecodeImage("GIF89a").status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(DecodeImage("GIF89a").status().ToString(), HasSubstr("the contents are GIF"));
  EXPECT_THAT(DecodeImage("RIFF1234WEBPVP8 ").status().ToString(), HasSubstr("WebP"));
  EXPECT_THAT(DecodeImage("").status().ToString(), HasSubstr("the contents are empty"));
  EXPECT_THAT(DecodeImage("text").status().ToString(), HasSubstr("begin with \"text\""));
  EXPECT_THAT(DecodeImage("BM").status().ToString(), HasSubstr("Incomplete bmp content"));
  EXPECT_THAT(DecodeImage("text", {.channels = 2}).status().ToString(), HasSubstr("got 2"));
}

}  // namespace
}  // namespace estimator::image
