#include "tools/tfrecord/feature_text.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "estimator/image/image_format.h"

namespace estimator {
namespace {

constexpr size_t kShortBytes = 80;

}  // namespace

std::string FeatureType(const proto::Feature& feature) {
  switch (feature.kind_case()) {
    case proto::Feature::kInt64List:
      return "int64";
    case proto::Feature::kFloatList:
      return "float";
    case proto::Feature::kBytesList:
      return "bytes";
    default:
      return "-";
  }
}

int64_t FeatureSize(const proto::Feature& feature) {
  return feature.int64_list().value_size() + feature.float_list().value_size() +
         feature.bytes_list().value_size();
}

std::string FeatureValueText(const proto::Feature& feature, int64_t i) {
  const int at = static_cast<int>(i);
  switch (feature.kind_case()) {
    case proto::Feature::kInt64List:
      return absl::StrCat(feature.int64_list().value(at));
    case proto::Feature::kFloatList:
      return absl::StrCat(feature.float_list().value(at));
    default:
      return absl::Utf8SafeCEscape(feature.bytes_list().value(at));
  }
}

std::string BytesText(absl::string_view bytes) {
  const image::ImageFormat format = image::DetectImageFormat(bytes);
  if (format != image::ImageFormat::kUnknown) {
    return absl::StrCat(image::ImageFormatName(format), ", ", bytes.size(), " bytes");
  }
  if (bytes.size() <= kShortBytes) return absl::StrCat("\"", absl::Utf8SafeCEscape(bytes), "\"");
  return absl::StrCat("\"", absl::Utf8SafeCEscape(bytes.substr(0, kShortBytes / 2)), "\"..., ",
                      bytes.size(), " bytes");
}

std::string FeatureText(const proto::Feature& feature, int64_t max_values) {
  const int64_t size = FeatureSize(feature);
  std::string text;
  for (int64_t i = 0; i < std::min(size, max_values); ++i) {
    const bool bytes = feature.kind_case() == proto::Feature::kBytesList;
    absl::StrAppend(&text, i == 0 ? "" : ", ",
                    bytes ? BytesText(feature.bytes_list().value(static_cast<int>(i)))
                          : FeatureValueText(feature, i));
  }
  if (size > max_values) absl::StrAppend(&text, ", ...");
  return text;
}

}  // namespace estimator
