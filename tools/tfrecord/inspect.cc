#include "tools/tfrecord/inspect.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/records/counts_in_names.h"
#include "tools/tfrecord/feature_text.h"

namespace estimator {
namespace {

struct Lengths {
  int64_t records = 0, bytes = 0, smallest = 0, largest = 0;  // bytes of data

  void Add(int64_t size) {
    smallest = records == 0 ? size : std::min(smallest, size);
    largest = std::max(largest, size);
    bytes += size;
    ++records;
  }
};

absl::StatusOr<Lengths> ReadLengths(const std::string& path, InputCompression compression) {
  EST_ASSIGN_OR_RETURN(const auto reader, OpenRecords(path, compression));
  Lengths lengths;
  while (true) {
    EST_RETURN_IF_ERROR(CheckInterrupt());
    const int64_t begin = reader->position().offset;
    EST_ASSIGN_OR_RETURN(const bool more, reader->Skip());
    if (!more) return lengths;
    lengths.Add(reader->position().offset - begin - kTFRecordOverheadBytes);
  }
}

std::string Mean(const Lengths& lengths) {
  return lengths.records == 0 ? "-" : HumanBytes(lengths.bytes / lengths.records);
}

std::vector<std::vector<std::string>> FeatureRows(const proto::Example& example,
                                                  int64_t max_values) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, feature] : example.features().feature()) {
    rows.push_back({key, FeatureType(feature), absl::StrCat(FeatureSize(feature)),
                    FeatureText(feature, max_values)});
  }
  std::sort(rows.begin(), rows.end());
  rows.insert(rows.begin(), {"key", "type", "values", "first values"});
  return rows;
}

}  // namespace

absl::StatusOr<std::string> ListRecordFiles(const std::vector<std::string>& files,
                                            InputCompression compression) {
  std::vector<std::vector<std::string>> rows = {
      {"file", "records", "bytes", "compression", "smallest", "mean", "largest"}};
  Lengths all;
  int64_t bytes = 0;
  for (const std::string& path : files) {
    EST_ASSIGN_OR_RETURN(const Compression used, DetectCompression(path, compression));
    EST_ASSIGN_OR_RETURN(const Lengths lengths, ReadLengths(path, compression));
    EST_ASSIGN_OR_RETURN(const int64_t size, FileSize(path));
    rows.push_back({path, absl::StrCat(lengths.records), HumanBytes(size),
                    used == Compression::kNone ? "none" : std::string(CompressionName(used)),
                    lengths.records == 0 ? "-" : HumanBytes(lengths.smallest), Mean(lengths),
                    lengths.records == 0 ? "-" : HumanBytes(lengths.largest)});
    bytes += size;
    all.records += lengths.records;
    all.bytes += lengths.bytes;
  }
  std::string text =
      absl::StrCat(FormatTable(rows), files.size(), " files, ", all.records, " records, ",
                   HumanBytes(bytes), ", mean record ", Mean(all), "\n");
  for (const std::string& path : files) {
    EST_ASSIGN_OR_RETURN(const auto reader, OpenRecords(path, compression));
    EST_ASSIGN_OR_RETURN(std::optional<std::string> data, reader->Next());
    if (!data) continue;
    const Record first = {.path = path, .index = 0, .offset = 0, .data = *std::move(data)};
    const auto example = ParseExampleRecord(first);
    absl::StrAppend(&text, "\nthe first record of ", path, ":\n",
                    example.ok()
                        ? FormatTable(FeatureRows(*example, 4))
                        : absl::StrCat("not a tf.train.Example, ", first.data.size(), " bytes\n"));
    break;
  }
  return text;
}

absl::StatusOr<std::string> CountRecordFiles(const std::vector<std::string>& files,
                                             InputCompression compression, int* wrong_names) {
  std::vector<std::vector<std::string>> rows = {{"file", "records"}};
  const std::vector<std::optional<int64_t>> stated = CountsInNames(files);
  int64_t total = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    EST_ASSIGN_OR_RETURN(const TFRecordPosition end, EndOfRecords(files[i], compression));
    rows.push_back({files[i], absl::StrCat(end.index)});
    if (stated[i] && *stated[i] != end.index) {
      ++*wrong_names;
      rows.back().push_back(absl::StrCat("its name states ", *stated[i]));
    }
    total += end.index;
  }
  return absl::StrCat(FormatTable(rows), total, " records in ", files.size(), " files\n");
}

absl::StatusOr<std::string> ShowRecords(const std::string& file, InputCompression compression,
                                        const ShowOptions& options) {
  std::string text;
  EST_ASSIGN_OR_RETURN(const auto reader, OpenRecords(file, compression));
  for (const int64_t index : options.records) {
    if (index < reader->position().index) EST_RETURN_IF_ERROR(reader->Seek({}));
    while (reader->position().index < index) {
      EST_RETURN_IF_ERROR(CheckInterrupt());
      EST_ASSIGN_OR_RETURN(const bool more, reader->Skip());
      if (!more) break;
    }
    const TFRecordPosition position = reader->position();
    std::optional<std::string> data;
    if (position.index == index) {
      EST_ASSIGN_OR_RETURN(data, reader->Next());
    }
    if (!data) {
      return OutOfRange(file, " has ", position.index, " records, so there is no record ", index,
                        "; the first record is 0");
    }
    const Record record = {
        .path = file, .index = index, .offset = position.offset, .data = *std::move(data)};
    const auto example = ParseExampleRecord(record);
    absl::StrAppend(&text, text.empty() ? "" : "\n", record.Place(), ", ", record.data.size(),
                    " bytes\n");
    if (!example.ok() || example->features().feature().empty()) {
      absl::StrAppend(&text, "not a tf.train.Example with features: ", BytesText(record.data),
                      "\n");
    } else {
      absl::StrAppend(&text, FormatTable(FeatureRows(*example, options.max_values)));
    }
  }
  return text;
}

}  // namespace estimator
