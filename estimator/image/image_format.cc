#include "estimator/image/image_format.h"

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator::image {

ImageFormat DetectImageFormat(StringArg contents) {
  if (absl::StartsWith(contents, "\xff\xd8\xff")) return ImageFormat::kJpeg;
  if (absl::StartsWith(contents, "\x89PNG\r\n\x1a\n")) return ImageFormat::kPng;
  if (absl::StartsWith(contents, "GIF8")) return ImageFormat::kGif;
  if (absl::StartsWith(contents, "BM")) return ImageFormat::kBmp;
  if (absl::StartsWith(contents, "RIFF") && contents.size() >= 12 &&
      contents.substr(8, 4) == "WEBP") {
    return ImageFormat::kWebp;
  }
  return ImageFormat::kUnknown;
}

absl::string_view ImageFormatName(ImageFormat format) {
  constexpr absl::string_view kNames[] = {"unknown", "JPEG", "PNG", "GIF", "BMP", "WebP"};
  return kNames[static_cast<int>(format)];
}

absl::Status CheckImageFormat(StringArg contents, ImageFormat format) {
  const ImageFormat found = DetectImageFormat(contents);
  if (found == format) return absl::OkStatus();
  const bool readable =
      found == ImageFormat::kJpeg || found == ImageFormat::kPng || found == ImageFormat::kBmp;
  return InvalidArgument("Invalid ", ImageFormatName(format), " data: the contents are ",
                         DescribeImageFormat(contents), readable ? "; DecodeImage reads it" : "");
}

std::string DescribeImageFormat(StringArg contents) {
  if (contents.empty()) return "empty";
  const ImageFormat format = DetectImageFormat(contents);
  if (format != ImageFormat::kUnknown) return std::string(ImageFormatName(format));
  return absl::StrCat("of an unknown format, ", contents.size(), " bytes that begin with \"",
                      absl::CHexEscape(contents.substr(0, 8)), "\"");
}

}  // namespace estimator::image
