#include "estimator/image/bmp.h"

#include <cstdint>
#include <cstring>
#include <limits>

#include "estimator/base/status.h"
#include "estimator/image/image_buffer.h"
#include "estimator/image/image_format.h"

namespace estimator::image {
namespace {

template <typename T>
T ReadNumber(absl::string_view contents, size_t offset) {
  T number;
  std::memcpy(&number, contents.data() + offset, sizeof(T));
  return number;
}

void DecodePixel(const uint8_t* in, int64_t in_channels, int64_t out_channels, uint8_t* out) {
  out[0] = in_channels == 1 ? in[0] : in[2];
  if (out_channels == 1) return;
  out[1] = in_channels == 1 ? in[0] : in[1];
  out[2] = in[0];
  if (out_channels == 4) out[3] = in_channels == 4 ? in[3] : 255;
}

}  // namespace

absl::StatusOr<Array> DecodeBmp(StringArg contents, const DecodeBmpOptions& options) {
  if (options.channels != 0 && options.channels != 3 && options.channels != 4) {
    return InvalidArgument("channels must be 0, 3 or 4 for BMP, got ", options.channels);
  }
  if (DetectImageFormat(contents) != ImageFormat::kBmp) {
    return InvalidArgument("Invalid BMP data: the contents are ", DescribeImageFormat(contents));
  }
  if (contents.size() < 32) {
    return InvalidArgument(
        "Incomplete bmp content, requires at least 32 bytes to find the header size, width, "
        "height, and bpp, got ",
        contents.size(), " bytes");
  }
  const int64_t header_bytes = ReadNumber<int32_t>(contents, 10);
  const int64_t width = ReadNumber<int32_t>(contents, 18);
  const int64_t signed_height = ReadNumber<int32_t>(contents, 22);
  const int64_t height = signed_height < 0 ? -signed_height : signed_height;
  const int64_t bits = ReadNumber<int16_t>(contents, 28);
  if (bits != 8 && bits != 24 && bits != 32) {
    return InvalidArgument("Invalid BMP data: a pixel must have 8, 24 or 32 bits, it has ", bits);
  }
  if (width <= 0 || height == 0 || header_bytes < 0 ||
      width * height >= std::numeric_limits<int32_t>::max() / 8) {
    return InvalidArgument("Invalid BMP data: width ", width, ", height ", signed_height,
                           " and pixels from byte ", header_bytes,
                           "; sides must be positive, with fewer than 2^28 pixels");
  }
  const int64_t in_channels = bits / 8;
  const int64_t row_bytes = (in_channels * width + 3) / 4 * 4;
  const int64_t expected = header_bytes + row_bytes * height;
  // Bytes behind the pixels are no damage: version 5 of the header may have a color profile there.
  if (expected > static_cast<int64_t>(contents.size())) {
    return InvalidArgument("Invalid BMP data: an image of ", height, " x ", width, " with ", bits,
                           " bits a pixel has ", expected, " bytes with its header; there are ",
                           contents.size());
  }
  const int64_t channels = options.channels != 0 ? options.channels : in_channels;
  EST_ASSIGN_OR_RETURN(Array image, UninitializedArray(DType::kUint8, {height, width, channels}));
  uint8_t* out = image.data<uint8_t>();
  const uint8_t* const pixels = reinterpret_cast<const uint8_t*>(contents.data()) + header_bytes;
  for (int64_t y = 0; y < height; ++y) {
    const uint8_t* in = pixels + (signed_height < 0 ? y : height - 1 - y) * row_bytes;
    for (int64_t x = 0; x < width; ++x, in += in_channels, out += channels) {
      DecodePixel(in, in_channels, channels, out);
    }
  }
  return image;
}

}  // namespace estimator::image
