#include "estimator/image/decode_image.h"

#include "estimator/base/status.h"
#include "estimator/image/bmp.h"
#include "estimator/image/image_buffer.h"
#include "estimator/image/image_format.h"
#include "estimator/image/jpeg/jpeg.h"
#include "estimator/image/png/png.h"

namespace estimator::image {
namespace {

// u8 as another dtype: TensorFlow multiplies by 256 for uint16, and divides by 255 for float32.
absl::StatusOr<Array> Widen(const Array& image, DType dtype) {
  if (dtype == DType::kUint8) return image;
  EST_ASSIGN_OR_RETURN(Array wide, UninitializedArray(dtype, image.shape()));
  const uint8_t* const in = image.data<uint8_t>();
  const int64_t count = image.num_elements();
  if (dtype == DType::kInt32) {
    int32_t* const out = wide.data<int32_t>();
    for (int64_t i = 0; i < count; ++i) out[i] = in[i] * 256;
  } else {
    constexpr float kScale = static_cast<float>(1. / 255);
    float* const out = wide.data<float>();
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(in[i]) * kScale;
  }
  return wide;
}

}  // namespace

absl::StatusOr<Array> DecodeImage(StringArg contents, const DecodeImageOptions& options) {
  const int channels = options.channels;
  if (channels != 0 && channels != 1 && channels != 3 && channels != 4) {
    return InvalidArgument("`channels` must be 0, 1, 3 or 4 but got ", channels);
  }
  const DType dtype = options.dtype;
  if (dtype != DType::kUint8 && dtype != DType::kInt32 && dtype != DType::kFloat32) {
    return InvalidArgument(
        "dtype must be uint8, int32 (for 16 bits) or float32 for DecodeImage, got ",
        DTypeName(dtype));
  }
  switch (const ImageFormat format = DetectImageFormat(contents)) {
    case ImageFormat::kPng:
      return DecodePng(contents, {.channels = channels, .dtype = dtype});
    case ImageFormat::kJpeg: {
      EST_ASSIGN_OR_RETURN(const Array image, DecodeJpeg(contents, {.channels = channels}));
      return Widen(image, dtype);
    }
    case ImageFormat::kBmp: {
      EST_ASSIGN_OR_RETURN(const Array image, DecodeBmp(contents, {.channels = channels}));
      return Widen(image, dtype);
    }
    case ImageFormat::kGif:
    case ImageFormat::kWebp:
      return Unimplemented("the contents are ", ImageFormatName(format),
                           ", which is not supported; convert them to PNG or JPEG");
    case ImageFormat::kUnknown:
      break;
  }
  return InvalidArgument(
      "Unknown image file format. One of JPEG, PNG, BMP required; the contents are ",
      DescribeImageFormat(contents));
}

}  // namespace estimator::image
