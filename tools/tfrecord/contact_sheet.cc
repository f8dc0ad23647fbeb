#include "tools/tfrecord/contact_sheet.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/data/transforms/permutation.h"
#include "estimator/image/decode_image.h"
#include "estimator/image/picture_grid.h"
#include "tools/tfrecord/feature_text.h"

namespace estimator {
namespace {

constexpr int64_t kMaxImages = 10'000;

// The place of a record among all files.
struct Choice {
  size_t file;
  int64_t record;
};

absl::StatusOr<std::vector<Choice>> ChooseRecords(const std::vector<std::string>& files,
                                                  InputCompression compression,
                                                  const ContactSheetOptions& options) {
  std::vector<int64_t> ends;  // the number of records of the files up to and with each
  int64_t total = 0;
  for (const std::string& path : files) {
    EST_ASSIGN_OR_RETURN(const TFRecordPosition end, EndOfRecords(path, compression));
    total += end.index;
    ends.push_back(total);
  }
  if (total == 0) return InvalidArgument("the files have no records");
  Permutation order(options.seed, total);
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < std::min(total, options.num_images); ++i) chosen.push_back(order.At(i));
  std::sort(chosen.begin(), chosen.end());
  std::vector<Choice> choices;
  size_t file = 0;
  for (const int64_t record : chosen) {
    while (record >= ends[file]) ++file;
    choices.push_back({file, record - (file == 0 ? 0 : ends[file - 1])});
  }
  return choices;
}

// "3 cat", "1, 0, 1", or "" without the keys.
std::string LabelText(const proto::Example& example, const ContactSheetOptions& options) {
  std::vector<std::string> parts;
  const auto& features = example.features().feature();
  const auto label = features.find(options.label_key);
  if (label != features.end()) parts.push_back(FeatureText(label->second, 8));
  const auto text = features.find(options.text_key);
  if (text != features.end() && text->second.bytes_list().value_size() > 0) {
    parts.push_back(FeatureValueText(text->second, 0));
  }
  return absl::StrJoin(parts, " ");
}

absl::Status CheckRange(absl::string_view flag, int64_t value, int64_t least, int64_t most,
                        absl::string_view unit = "") {
  if (value >= least && value <= most) return absl::OkStatus();
  return InvalidArgument("--", flag, "=", value, " is not between ", least, " and ", most, unit);
}

absl::Status CheckOptions(const ContactSheetOptions& options) {
  EST_RETURN_IF_ERROR(CheckRange("num", options.num_images, 1, kMaxImages));
  EST_RETURN_IF_ERROR(CheckRange("side", options.side, 16, 2048, " pixels"));
  return CheckRange("columns", options.columns, 0, kMaxImages);
}

}  // namespace

absl::StatusOr<Array> DrawContactSheet(const std::vector<std::string>& files,
                                       InputCompression compression,
                                       const ContactSheetOptions& options) {
  EST_RETURN_IF_ERROR(CheckOptions(options));
  EST_ASSIGN_OR_RETURN(const auto choices, ChooseRecords(files, compression, options));
  const auto count = static_cast<int64_t>(choices.size());
  if (count * options.side * options.side > image::kMaxGridPixels) {
    return InvalidArgument("a sheet of ", count, " images of ", options.side, " x ", options.side,
                           " pixels is too large; reduce --num or --side");
  }
  std::vector<image::GridPicture> pictures;
  std::unique_ptr<TFRecordReader> reader;
  size_t open_file = files.size();
  for (const auto& [file, index] : choices) {
    const std::string& path = files[file];
    if (file != open_file) {
      EST_ASSIGN_OR_RETURN(reader, OpenRecords(path, compression));
      open_file = file;
    }
    while (reader->position().index < index) {
      EST_RETURN_IF_ERROR(CheckInterrupt());
      EST_RETURN_IF_ERROR(reader->Skip().status());
    }
    const int64_t offset = reader->position().offset;
    EST_ASSIGN_OR_RETURN(std::optional<std::string> data, reader->Next());
    if (!data) return absl::AbortedError(absl::StrCat(path, " became shorter while it was read"));
    const Record record = {
        .path = path, .index = index, .offset = offset, .data = *std::move(data)};
    EST_ASSIGN_OR_RETURN(const proto::Example example, ParseExampleRecord(record));
    EST_ASSIGN_OR_RETURN(const std::string bytes, BytesOfKey(record, example, options.image_key));
    const absl::StatusOr<Array> image = image::DecodeImage(bytes, {.channels = 3});
    if (!image.ok()) {
      return Annotate(image.status(),
                      absl::StrCat(record.Place(), ": key \"", options.image_key, "\""));
    }
    pictures.push_back({image::FitIntoSquare(*image, options.side),
                        {{LabelText(example, options), image::kBlack},
                         {absl::StrCat("#", index, " ", Basename(path)), image::kGray}}});
  }
  return image::DrawPictureGrid(pictures, {.columns = options.columns, .side = options.side});
}

}  // namespace estimator
