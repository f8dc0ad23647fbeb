#include "estimator/image/png/png.h"

#include <cstring>
#include <string>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::image {
namespace {

using ::testing::HasSubstr;

Array Ramp(DType dtype, const Shape& shape, int64_t step) {
  Array values(DType::kInt32, shape);
  const int64_t most = dtype == DType::kUint8 ? 256 : 65536;
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    values.data<int32_t>()[i] = static_cast<int32_t>(i * step % most);
  }
  return values.Cast(dtype);
}

TEST(Png, DecodesTheBytesThatItEncodes) {
  for (const DType dtype : {DType::kUint8, DType::kInt32}) {
    for (const int64_t channels : {1, 2, 3, 4}) {
      for (const int compression : {-1, 0, 9}) {
        const Array image = Ramp(dtype, {7, 5, channels}, 389);
        const absl::StatusOr<std::string> bytes = EncodePng(image, {.compression = compression});
        ASSERT_TRUE(bytes.ok()) << bytes.status();
        EXPECT_EQ(PngShape(*bytes).value(), image.shape());
        const absl::StatusOr<Array> decoded = DecodePng(*bytes, {.dtype = dtype});
        ASSERT_TRUE(decoded.ok()) << decoded.status();
        ASSERT_EQ(decoded->TypeString(), image.TypeString());
        EXPECT_EQ(std::memcmp(decoded->raw(), image.raw(), image.num_bytes()), 0);
      }
    }
  }
}

TEST(Png, RefusesWhatItCannotEncode) {
  EXPECT_THAT(EncodePng(Ramp(DType::kUint8, {4, 4, 5}, 1)).status().ToString(),
              HasSubstr("u8 [4,4,5]"));
  EXPECT_THAT(EncodePng(Array(DType::kFloat32, {4, 4, 3})).status().ToString(),
              HasSubstr("f32 [4,4,3]"));
  EXPECT_THAT(EncodePng(Array(DType::kUint8, {0, 4, 3})).status().ToString(),
              HasSubstr("sides of 1"));
  EXPECT_THAT(EncodePng(Array::Of<int32_t>({1, 2, 1}, {5, 65536})).status().ToString(),
              HasSubstr("got 65536"));
  EXPECT_THAT(EncodePng(Ramp(DType::kUint8, {4, 4, 3}, 1), {.compression = 10}).status().ToString(),
              HasSubstr("got 10"));
}

TEST(Png, EveryTruncationIsAnErrorWithTheByte) {
  const std::string bytes = EncodePng(Ramp(DType::kUint8, {9, 8, 3}, 7)).value();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const absl::StatusOr<Array> image = DecodePng(absl::string_view(bytes).substr(0, size));
    ASSERT_FALSE(image.ok()) << size;
    const std::string expected = size >= 8 ? "near byte" : "the contents are";
    EXPECT_THAT(image.status().ToString(), HasSubstr(expected));
  }
}

TEST(Png, AWrongChecksumAndOtherContentsAreErrors) {
  std::string bytes = EncodePng(Ramp(DType::kUint8, {9, 8, 3}, 7)).value();
  EXPECT_THAT(DecodePng("\xff\xd8\xff\xe0").status().ToString(),
              HasSubstr("the contents are JPEG; DecodeImage reads it"));
  bytes[bytes.find("IDAT") + 10] ^= 1;
  EXPECT_THAT(DecodePng(bytes).status().ToString(), HasSubstr("near byte"));
  EXPECT_THAT(DecodePng(bytes, {.channels = 5}).status().ToString(), HasSubstr("got 5"));
  EXPECT_THAT(DecodePng(bytes, {.dtype = DType::kInt64}).status().ToString(), HasSubstr("int64"));
}

}  // namespace
}  // namespace estimator::image
