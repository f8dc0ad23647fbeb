#include "tools/to_tfrecord/image_bytes.h"

#include <utility>

#include "estimator/array/array.h"
#include "estimator/base/status.h"
#include "estimator/image/image_format.h"
#include "estimator/image/jpeg/jpeg.h"
#include "estimator/image/png/png.h"

namespace estimator {
namespace {

using image::ImageFormat;

std::string Colorspace(ImageFormat format, int64_t channels) {
  switch (channels) {
    case 1:
      return "Grayscale";
    case 2:
      return "GrayscaleAlpha";
    case 3:
      return "RGB";
    default:
      return format == ImageFormat::kJpeg ? "CMYK" : "RGBA";
  }
}

absl::StatusOr<Array> Decode(const std::string& bytes, ImageFormat format, int channels) {
  if (format == ImageFormat::kJpeg) return image::DecodeJpeg(bytes, {.channels = channels});
  return image::DecodePng(bytes, {.channels = channels});
}

}  // namespace

absl::StatusOr<EncodedImage> CheckImage(std::string bytes, const ImageBytesOptions& options) {
  const ImageFormat format = image::DetectImageFormat(bytes);
  if (bytes.empty()) return InvalidArgument("the file is empty");
  if (format != ImageFormat::kJpeg && format != ImageFormat::kPng) {
    return InvalidArgument("neither JPEG nor PNG, but ", image::DescribeImageFormat(bytes));
  }
  EST_ASSIGN_OR_RETURN(const Shape shape, format == ImageFormat::kJpeg ? image::JpegShape(bytes)
                                                                       : image::PngShape(bytes));
  const bool rewrite = options.rgb_jpeg && (format == ImageFormat::kPng || shape[2] == 4);
  if (rewrite) {
    EST_ASSIGN_OR_RETURN(const Array pixels, Decode(bytes, format, 3));
    EST_ASSIGN_OR_RETURN(std::string jpeg,
                         image::EncodeJpeg(pixels, {.format = image::JpegFormat::kRgb,
                                                    .quality = options.jpeg_quality}));
    return EncodedImage{.bytes = std::move(jpeg),
                        .format = "JPEG",
                        .colorspace = "RGB",
                        .height = shape[0],
                        .width = shape[1],
                        .channels = 3};
  }
  if (options.decode) EST_RETURN_IF_ERROR(Decode(bytes, format, 0).status());
  return EncodedImage{.bytes = std::move(bytes),
                      .format = std::string(image::ImageFormatName(format)),
                      .colorspace = Colorspace(format, shape[2]),
                      .height = shape[0],
                      .width = shape[1],
                      .channels = shape[2]};
}

}  // namespace estimator
