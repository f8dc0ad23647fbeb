// Recognizes the format of an image file by its first bytes.
#ifndef ESTIMATOR_IMAGE_IMAGE_FORMAT_H_
#define ESTIMATOR_IMAGE_IMAGE_FORMAT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/base/string_arg.h"

namespace estimator::image {

// In the order of the names in image_format.cc.
enum class ImageFormat { kUnknown, kJpeg, kPng, kGif, kBmp, kWebp };

// Source: TF 2.15 tensorflow/core/kernels/image/decode_image_op.cc; WebP is from later versions.
ImageFormat DetectImageFormat(StringArg contents);

// "JPEG", "PNG", "GIF", "BMP", "WebP" or "unknown".
absl::string_view ImageFormatName(ImageFormat format);

// Errors: INVALID_ARGUMENT if the contents are of another format, with the function that reads it.
absl::Status CheckImageFormat(StringArg contents, ImageFormat format);

// Says what the contents are, for an error: "PNG", or "an unknown format that begins with 00 01".
std::string DescribeImageFormat(StringArg contents);

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_IMAGE_FORMAT_H_
