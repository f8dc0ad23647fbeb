#include "tools/tfrecord/record_files.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/file.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

// Whether a file in a directory of TFRecord files is something else by its name.
bool IsCompanion(absl::string_view name) {
  return name[0] == '.' || absl::EndsWith(name, ".txt") || absl::EndsWith(name, ".csv") ||
         absl::EndsWith(name, ".json");
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindRecordFiles(
    const std::vector<std::string>& arguments) {
  std::vector<std::string> files, missing;
  for (const std::string& argument : arguments) {
    const size_t before = files.size();
    if (IsDirectory(argument)) {
      EST_ASSIGN_OR_RETURN(const auto names, ListDirectory(argument));
      for (const std::string& name : names) {
        const std::string path = JoinPath(argument, name);
        if (!IsCompanion(name) && !IsDirectory(path)) files.push_back(path);
      }
    } else if (FileExists(argument)) {
      files.push_back(argument);
    } else {
      EST_ASSIGN_OR_RETURN(const auto paths, Glob(argument));
      for (const std::string& path : paths) {
        if (!IsDirectory(path)) files.push_back(path);
      }
    }
    if (files.size() == before) missing.push_back(argument);
  }
  if (missing.empty()) return files;
  return NotFound(
      "no file: ", absl::StrJoin(missing, ", "),
      "; an argument is a file, a pattern in quotes ('DIR/train-*'), or a directory of files");
}

absl::StatusOr<InputCompression> ParseInputCompression(const std::string& name) {
  const std::string lower = absl::AsciiStrToLower(name);
  if (lower == "auto") return InputCompression::kAuto;
  if (lower.empty() || lower == "none") return InputCompression::kNone;
  if (lower == "gzip") return InputCompression::kGzip;
  if (lower == "zlib") return InputCompression::kZlib;
  return InvalidArgument("compression ", name, " is not one of auto, none, gzip, zlib");
}

absl::StatusOr<Compression> ParseOutputCompression(const std::string& name) {
  EST_ASSIGN_OR_RETURN(const InputCompression parsed, ParseInputCompression(name));
  if (parsed != InputCompression::kAuto) return DetectCompression("", parsed);
  return InvalidArgument("the compression of an output is none, gzip or zlib, not auto");
}

absl::StatusOr<Compression> DetectCompression(const std::string& path, InputCompression input) {
  if (input == InputCompression::kNone) return Compression::kNone;
  if (input == InputCompression::kGzip) return Compression::kGzip;
  if (input == InputCompression::kZlib) return Compression::kZlib;
  EST_ASSIGN_OR_RETURN(const auto file, RandomAccessFile::Open(path));
  char begin[12];
  EST_ASSIGN_OR_RETURN(const size_t size, file->Read(0, sizeof(begin), begin));
  return LooksLikeGzip(absl::string_view(begin, size)) ? Compression::kGzip : Compression::kNone;
}

absl::StatusOr<std::unique_ptr<TFRecordReader>> OpenRecords(const std::string& path,
                                                            InputCompression input) {
  EST_ASSIGN_OR_RETURN(const Compression compression, DetectCompression(path, input));
  return TFRecordReader::Open(path, {.compression = compression});
}

absl::StatusOr<TFRecordPosition> EndOfRecords(const std::string& path, InputCompression input) {
  EST_ASSIGN_OR_RETURN(const auto reader, OpenRecords(path, input));
  while (true) {
    EST_RETURN_IF_ERROR(CheckInterrupt());
    EST_ASSIGN_OR_RETURN(const bool more, reader->Skip());
    if (!more) return reader->position();
  }
}

std::string Record::Place() const {
  return absl::StrCat(path, ": record ", index, " at byte ", offset);
}

absl::Status CheckInterrupt() {
  return InterruptRequested() ? absl::CancelledError("interrupted") : absl::OkStatus();
}

absl::Status ForEachRecord(const std::string& path, InputCompression input,
                           const std::function<absl::Status(Record record)>& use) {
  EST_ASSIGN_OR_RETURN(const auto reader, OpenRecords(path, input));
  while (true) {
    EST_RETURN_IF_ERROR(CheckInterrupt());
    const TFRecordPosition position = reader->position();
    EST_ASSIGN_OR_RETURN(std::optional<std::string> data, reader->Next());
    if (!data) return absl::OkStatus();
    EST_RETURN_IF_ERROR(use({.path = path,
                             .index = position.index,
                             .offset = position.offset,
                             .data = *std::move(data)}));
  }
}

absl::StatusOr<proto::Example> ParseExampleRecord(const Record& record) {
  proto::Example example;
  if (example.ParseFromString(record.data)) return example;
  return InvalidArgument(record.Place(), ": its ", record.data.size(),
                         " bytes are not a serialized tf.train.Example");
}

absl::StatusOr<std::string> BytesOfKey(const Record& record, const proto::Example& example,
                                       const std::string& key) {
  const auto& features = example.features().feature();
  const auto found = features.find(key);
  if (found == features.end()) {
    std::vector<std::string> keys;
    for (const auto& [name, feature] : features) keys.push_back(name);
    std::sort(keys.begin(), keys.end());
    return NotFound(record.Place(), ": there is no key \"", key, "\"; the keys are ",
                    JoinSome(keys, 20));
  }
  if (found->second.kind_case() != proto::Feature::kBytesList ||
      found->second.bytes_list().value_size() == 0) {
    return InvalidArgument(record.Place(), ": the key \"", key, "\" has no value of bytes");
  }
  return found->second.bytes_list().value(0);
}

}  // namespace estimator
