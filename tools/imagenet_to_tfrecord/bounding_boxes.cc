#include "tools/imagenet_to_tfrecord/bounding_boxes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/data/parsing/csv_field.h"
#include "estimator/data/parsing/decode_csv.h"

namespace estimator {
namespace {

// The texts of all elements <tag>...</tag>.
std::vector<absl::string_view> Elements(absl::string_view xml, const std::string& tag) {
  const std::string open = absl::StrCat("<", tag, ">"), close = absl::StrCat("</", tag, ">");
  std::vector<absl::string_view> texts;
  for (size_t at = xml.find(open); at != absl::string_view::npos; at = xml.find(open, at)) {
    at += open.size();
    const size_t end = xml.find(close, at);
    if (end == absl::string_view::npos) break;
    texts.push_back(xml.substr(at, end - at));
  }
  return texts;
}

// A pixel's coordinate relative to the size of the image, as process_bounding_boxes.py prints it.
float Scale(double pixel, double size) {
  const std::string text = absl::StrFormat("%.4f", std::clamp(pixel / size, 0.0, 1.0));
  return std::strtof(text.c_str(), nullptr);
}

bool ReadNumbers(const std::vector<absl::string_view>& texts, std::vector<double>& numbers) {
  for (const absl::string_view text : texts) {
    double number = 0;
    if (!absl::SimpleAtod(text, &number)) return false;
    numbers.push_back(number);
  }
  return true;
}

bool HasArea(const BoundingBox& box) { return box.xmin < box.xmax && box.ymin < box.ymax; }

}  // namespace

absl::StatusOr<std::vector<BoundingBox>> ParseAnnotation(const std::string& path,
                                                         absl::string_view xml) {
  const auto error = [&](absl::string_view what) {
    return InvalidArgument(path, ": not an annotation of ImageNet: ", what);
  };
  std::vector<double> width, height, xmin, xmax, ymin, ymax;
  if (!ReadNumbers(Elements(xml, "width"), width) ||
      !ReadNumbers(Elements(xml, "height"), height) || !ReadNumbers(Elements(xml, "xmin"), xmin) ||
      !ReadNumbers(Elements(xml, "xmax"), xmax) || !ReadNumbers(Elements(xml, "ymin"), ymin) ||
      !ReadNumbers(Elements(xml, "ymax"), ymax)) {
    return error("a coordinate is not a number");
  }
  if (width.size() != 1 || height.size() != 1 || !(width[0] > 0) || !(height[0] > 0)) {
    return error("it has no <width> and <height>");
  }
  if (xmax.size() != xmin.size() || ymin.size() != xmin.size() || ymax.size() != xmin.size()) {
    return error("a box lacks one of <xmin>, <xmax>, <ymin>, <ymax>");
  }
  std::vector<BoundingBox> boxes;
  for (size_t i = 0; i < xmin.size(); ++i) {
    // In some annotations the minimum and the maximum are exchanged.
    const BoundingBox box = {.xmin = Scale(std::min(xmin[i], xmax[i]), width[0]),
                             .xmax = Scale(std::max(xmin[i], xmax[i]), width[0]),
                             .ymin = Scale(std::min(ymin[i], ymax[i]), height[0]),
                             .ymax = Scale(std::max(ymin[i], ymax[i]), height[0])};
    if (HasArea(box)) boxes.push_back(box);
  }
  return boxes;
}

absl::StatusOr<BoundingBoxes> ReadBoundingBoxXmls(const std::string& directory) {
  BoundingBoxes result;
  std::vector<std::string> mistakes;
  EST_RETURN_IF_ERROR(ForEachFile(directory, [&](const std::string& path) -> absl::Status {
    if (!absl::EndsWith(path, ".xml")) return absl::OkStatus();
    EST_ASSIGN_OR_RETURN(const std::string xml, ReadFile(path));
    const auto boxes = ParseAnnotation(path, xml);
    if (!boxes.ok()) {
      mistakes.emplace_back(boxes.status().message());
    } else if (!boxes->empty()) {
      const absl::string_view stem = absl::StripSuffix(Basename(path), ".xml");
      result[absl::StrCat(stem, ".JPEG")] = *boxes;
    }
    return absl::OkStatus();
  }));
  if (mistakes.empty()) return result;
  return InvalidArgument(JoinSome(mistakes, 20), "; remove these files");
}

absl::StatusOr<BoundingBoxes> ReadBoundingBoxCsv(const std::string& path) {
  EST_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  BoundingBoxes result;
  int64_t number = 0;
  absl::string_view rest = text;
  ConsumeByteOrderMark(&rest);
  while (!rest.empty()) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(TakeCsvRecord({}, &rest));
    if (line.empty()) continue;
    const auto split = CsvFields(line, {});
    const std::vector<std::string> fields = split.ok() ? *split : std::vector<std::string>();
    BoundingBox box;
    if (fields.size() != 5 || !absl::SimpleAtof(fields[1], &box.xmin) ||
        !absl::SimpleAtof(fields[2], &box.ymin) || !absl::SimpleAtof(fields[3], &box.xmax) ||
        !absl::SimpleAtof(fields[4], &box.ymax)) {
      return InvalidArgument(path, ":", number, ": \"", line, "\" is not NAME,xmin,ymin,xmax,ymax");
    }
    result[fields[0]].push_back(box);
  }
  return result;
}

}  // namespace estimator
