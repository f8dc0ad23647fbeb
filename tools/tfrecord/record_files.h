// The TFRecord files of a command: which files the arguments name, and their records.
#ifndef TOOLS_TFRECORD_RECORD_FILES_H_
#define TOOLS_TFRECORD_RECORD_FILES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/proto/example.pb.h"
#include "estimator/records/compression.h"
#include "estimator/records/tfrecord.h"

namespace estimator {

// The files that the arguments name, in their order. An argument is a file, a pattern (train-*), or
// a directory: all files in it, but those whose names begin with a dot or end in .txt, .csv or
// .json (to_tfrecord writes labels.txt beside its files).
// Errors: NOT_FOUND naming each argument without a file.
absl::StatusOr<std::vector<std::string>> FindRecordFiles(const std::vector<std::string>& arguments);

// How files are compressed. kAuto reads GZIP files, which begin with a mark, and plain files.
enum class InputCompression { kAuto, kNone, kGzip, kZlib };

// Parses "auto", "none", "gzip" or "zlib"; case is ignored, and "" is none.
absl::StatusOr<InputCompression> ParseInputCompression(const std::string& name);

// Parses "none", "gzip" or "zlib"; case is ignored, and "" is none.
absl::StatusOr<Compression> ParseOutputCompression(const std::string& name);

absl::StatusOr<Compression> DetectCompression(const std::string& path, InputCompression input);

absl::StatusOr<std::unique_ptr<TFRecordReader>> OpenRecords(const std::string& path,
                                                            InputCompression input);

// Skips all records of a file. Returns the position behind the last one: the number of records and
// of their bytes.
// Errors: those of reading; CANCELLED after Ctrl-C. Lengths are checked, data is not.
absl::StatusOr<TFRecordPosition> EndOfRecords(const std::string& path, InputCompression input);

// A record, and the place that error messages name.
struct Record {
  const std::string& path;
  int64_t index;   // in the file
  int64_t offset;  // of the record's length, in the decompressed bytes
  std::string data;

  std::string Place() const;  // "train-00000: record 3 at byte 1234"
};

// Calls `use` with each record of a file, in order.
// Errors: those of `use`; DATA_LOSS for a damaged record; CANCELLED after Ctrl-C.
absl::Status ForEachRecord(const std::string& path, InputCompression input,
                           const std::function<absl::Status(Record record)>& use);

// Parses a serialized Example.
// Errors: INVALID_ARGUMENT naming the place, if the bytes are not an Example.
absl::StatusOr<proto::Example> ParseExampleRecord(const Record& record);

// Returns the first bytes value of a feature.
// Errors: NOT_FOUND naming the place, the key and the keys that the record has; INVALID_ARGUMENT if
// the feature has another type or no value.
absl::StatusOr<std::string> BytesOfKey(const Record& record, const proto::Example& example,
                                       const std::string& key);

// Returns CANCELLED after Ctrl-C.
absl::Status CheckInterrupt();

}  // namespace estimator

#endif  // TOOLS_TFRECORD_RECORD_FILES_H_
