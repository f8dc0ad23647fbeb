#include "tools/tfrecord/contact_sheet.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/data/transforms/permutation.h"
#include "estimator/image/bitmap_font.h"
#include "estimator/image/decode_image.h"
#include "tools/tfrecord/feature_text.h"

namespace estimator {
namespace {

constexpr int64_t kGap = 6;                                     // around each image, in pixels
constexpr int64_t kTextHeight = 2 * (kGlyphHeight + 3);         // two lines below an image
constexpr int64_t kMaxImages = 10'000, kMaxPixels = 256 << 20;  // of a sheet
constexpr uint8_t kBackground = 255, kLabelGray = 0, kPlaceGray = 128;

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

void Paste(const Array& image, int64_t x, int64_t y, Array& sheet) {
  const int64_t row_bytes = image.shape()[1] * 3;
  for (int64_t row = 0; row < image.shape()[0]; ++row) {
    std::memcpy(sheet.data<uint8_t>() + ((y + row) * sheet.shape()[1] + x) * 3,
                image.data<uint8_t>() + row * row_bytes, static_cast<size_t>(row_bytes));
  }
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

Array FitIntoSquare(const Array& image, int64_t side) {
  const int64_t height = image.shape()[0], width = image.shape()[1];
  const int64_t longest = std::max(height, width);
  int64_t new_height = height * std::max<int64_t>(1, side / longest);
  int64_t new_width = width * std::max<int64_t>(1, side / longest);
  if (longest > side) {
    new_height = std::max<int64_t>(1, height * side / longest);
    new_width = std::max<int64_t>(1, width * side / longest);
  }
  Array result(DType::kUint8, {new_height, new_width, 3});
  const uint8_t* const in = image.data<uint8_t>();
  uint8_t* out = result.data<uint8_t>();
  for (int64_t row = 0; row < new_height; ++row) {
    const int64_t top = row * height / new_height;
    const int64_t bottom = std::max(top + 1, (row + 1) * height / new_height);
    for (int64_t column = 0; column < new_width; ++column) {
      const int64_t left = column * width / new_width;
      const int64_t right = std::max(left + 1, (column + 1) * width / new_width);
      int64_t sums[3] = {0, 0, 0};
      for (int64_t y = top; y < bottom; ++y) {
        for (int64_t x = left; x < right; ++x) {
          for (int64_t c = 0; c < 3; ++c) sums[c] += in[(y * width + x) * 3 + c];
        }
      }
      const int64_t count = (bottom - top) * (right - left);
      for (const int64_t sum : sums) *out++ = static_cast<uint8_t>((sum + count / 2) / count);
    }
  }
  return result;
}

absl::StatusOr<Array> DrawContactSheet(const std::vector<std::string>& files,
                                       InputCompression compression,
                                       const ContactSheetOptions& options) {
  EST_RETURN_IF_ERROR(CheckOptions(options));
  EST_ASSIGN_OR_RETURN(const auto choices, ChooseRecords(files, compression, options));
  const auto count = static_cast<int64_t>(choices.size());
  const int64_t columns =
      options.columns > 0 ? std::min(options.columns, count)
                          : static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  const int64_t rows = (count + columns - 1) / columns;
  const int64_t tile_width = options.side + kGap, tile_height = options.side + kTextHeight + kGap;
  const int64_t height = rows * tile_height + kGap, width = columns * tile_width + kGap;
  if (height * width > kMaxPixels) {
    return InvalidArgument("a sheet of ", width, " x ", height,
                           " pixels is too large; reduce --num or --side");
  }
  Array sheet(DType::kUint8, {height, width, 3});
  std::memset(sheet.raw(), kBackground, sheet.num_bytes());
  std::unique_ptr<TFRecordReader> reader;
  size_t open_file = files.size();
  for (int64_t i = 0; i < count; ++i) {
    const auto [file, index] = choices[static_cast<size_t>(i)];
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
    const Array small = FitIntoSquare(*image, options.side);
    const int64_t x = kGap + i % columns * tile_width, y = kGap + i / columns * tile_height;
    Paste(small, x + (options.side - small.shape()[1]) / 2, y + options.side - small.shape()[0],
          sheet);
    DrawText(LabelText(example, options), x, y + options.side + 2, options.side, kLabelGray, sheet);
    DrawText(absl::StrCat("#", index, " ", Basename(path)), x, y + options.side + 5 + kGlyphHeight,
             options.side, kPlaceGray, sheet);
  }
  return sheet;
}

}  // namespace estimator
