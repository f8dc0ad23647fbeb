// A node for the records of several files, for formats that must be read in order.
#ifndef ESTIMATOR_DATA_SOURCES_FILE_RECORDS_H_
#define ESTIMATOR_DATA_SOURCES_FILE_RECORDS_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/data/pipeline/dataset_node.h"
#include "estimator/records/tfrecord.h"

namespace estimator {

// The position of a reader in its file, whatever the format.
using RecordPosition = TFRecordPosition;

class RecordSource {
 public:
  virtual ~RecordSource() = default;
  virtual absl::StatusOr<std::optional<std::string>> Next() = 0;
  // Skips a record without checking its data. Returns false at the end. After an error of Next it
  // fails if nothing says where the next record begins.
  virtual absl::StatusOr<bool> Skip() = 0;
  virtual RecordPosition position() const = 0;
  virtual absl::Status Seek(RecordPosition position) = 0;
};

using OpenRecordsFn =
    std::function<absl::StatusOr<std::unique_ptr<RecordSource>>(const std::string&)>;

struct FileRecordsOptions {
  std::string label;
  std::string kind;  // the kind of record in messages: "record", "line"
  std::vector<std::string> files;
  OpenRecordsFn open;
  int64_t num_records = -1;       // of all files; -1: not known without reading them
  int64_t buffer_size_bytes = 0;  // that are read at once, for Advice; 0: not known
};
NodePtr FileRecordsNode(FileRecordsOptions options);

// An element that is a string scalar, and the spec of such elements.
Element StringElement(std::string text);
ElementSpec StringSpec();

// The file of a record. The files are sorted, and each has its number of the first record.
// REQUIRES: no file is empty, and one of them has the record.
template <typename File>
const File& FileOfRecord(const std::vector<File>& files, int64_t record) {
  const auto after =
      std::upper_bound(files.begin(), files.end(), record,
                       [](int64_t number, const File& file) { return number < file.first_record; });
  return *(after - 1);
}

// Checks that all files exist.
// Errors: NOT_FOUND with all missing files; INVALID_ARGUMENT if `files` is empty.
absl::Status CheckFilesExist(absl::string_view what, const std::vector<std::string>& files);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_SOURCES_FILE_RECORDS_H_
