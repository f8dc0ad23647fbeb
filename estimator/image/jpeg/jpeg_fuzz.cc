// Fuzzes the JPEG decoder. The input is 6 bytes and the file:
//   0  bits 0-1: channels 0, 1, 3, 3; bits 2-3: ratio 1, 2, 4, 8; bit 4: no fancy_upscaling;
//      bit 5: try_recover_truncated; bit 6: dct_method kIntegerAccurate; bit 7: crop
//   1  acceptable_fraction in 1/255
//   2  the crop's y, x, height and width in 1/255 of the image
// A cropped image has the pixels of the window's size; a whole image has those of JpegShape. Both
// ways to read the Huffman codes give the same pixels, or the same error.
#include <cstdint>

#include "estimator/image/jpeg/jpeg.h"
#include "estimator/image/jpeg/jpeg_decode.h"
#include "glog/logging.h"

namespace estimator::image {
namespace {

absl::StatusOr<Array> DecodeBothWays(absl::string_view contents, const Box* window,
                                     const DecodeJpegOptions& options) {
  absl::StatusOr<Array> image = DecodeJpegWith(JpegCoefficients::kFast, contents, window, options);
  const absl::StatusOr<Array> expected =
      DecodeJpegWith(JpegCoefficients::kLibjpeg, contents, window, options);
  CHECK_EQ(image.status(), expected.status());
  if (image.ok()) {
    CHECK_EQ(image->shape(), expected->shape());
    CHECK(image->values<uint8_t>() == expected->values<uint8_t>());
  }
  return image;
}

}  // namespace
}  // namespace estimator::image

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace image = estimator::image;
  constexpr size_t kPrefix = 6;
  if (size < kPrefix) return 0;
  const estimator::StringArg contents(reinterpret_cast<const char*>(data) + kPrefix,
                                      size - kPrefix);
  constexpr int kChannels[] = {0, 1, 3, 3};
  const image::DecodeJpegOptions options = {
      .channels = kChannels[data[0] & 3],
      .ratio = 1 << (data[0] >> 2 & 3),
      .fancy_upscaling = (data[0] & 16) == 0,
      .try_recover_truncated = (data[0] & 32) != 0,
      .acceptable_fraction = static_cast<float>(data[1]) / 255,
      .dct_method =
          (data[0] & 64) != 0 ? image::DctMethod::kIntegerAccurate : image::DctMethod::kDefault};
  const absl::StatusOr<estimator::Shape> shape = image::JpegShape(contents);
  if ((data[0] & 128) == 0 || !shape.ok()) {
    const absl::StatusOr<estimator::Array> whole =
        image::DecodeBothWays(contents, nullptr, options);
    if (!whole.ok()) return 0;
    // A header that ends too early is an error, unless try_recover_truncated is set.
    CHECK(shape.ok() || options.try_recover_truncated) << shape.status();
    if (!shape.ok()) return 0;
    CHECK_EQ(whole->shape().dim(0), (shape->dim(0) + options.ratio - 1) / options.ratio);
    CHECK_EQ(whole->shape().dim(1), (shape->dim(1) + options.ratio - 1) / options.ratio);
    return 0;
  }
  const image::Box window = {.y = shape->dim(0) * data[2] / 255,
                             .x = shape->dim(1) * data[3] / 255,
                             .height = shape->dim(0) * data[4] / 255,
                             .width = shape->dim(1) * data[5] / 255};
  const absl::StatusOr<estimator::Array> part = image::DecodeBothWays(contents, &window, options);
  if (!part.ok()) return 0;
  CHECK_EQ(part->shape().dim(0), window.height);
  CHECK_EQ(part->shape().dim(1), window.width);
  return 0;
}
