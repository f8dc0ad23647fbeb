// The file of Dataset::Cache(filename). It is a TFRecord file of these records:
//   header        "ECCH", version (integer: 1), description of the cached pipeline (bytes)
//   elements      one record for each (pipeline/element_bytes.h)
//   index         for each element the size of its record's data, as an integer
//   tail          "ECND", number of elements (u64), byte offset of the index record (u64)
// Integers and bytes are those of pipeline/iterator_state.h; u64 is little-endian. A file without a
// tail is not complete. On disk: do not change.
#ifndef ESTIMATOR_DATA_TRANSFORMS_CACHE_FILE_H_
#define ESTIMATOR_DATA_TRANSFORMS_CACHE_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/base/file_lock.h"
#include "estimator/data/pipeline/element.h"
#include "estimator/records/tfrecord.h"

namespace estimator {

// Writes PATH.partial, and renames it to PATH when it is complete. A crash leaves PATH.partial,
// which the next writer overwrites. PATH.lock excludes other writers. Not thread-safe.
class CacheFileWriter {
 public:
  // Creates the directory too. Errors: ALREADY_EXISTS if another writer is at work.
  static absl::StatusOr<std::unique_ptr<CacheFileWriter>> Create(absl::string_view path,
                                                                 absl::string_view description);
  // Removes the partial file, unless Finish succeeded.
  ~CacheFileWriter();
  CacheFileWriter(const CacheFileWriter&) = delete;
  CacheFileWriter& operator=(const CacheFileWriter&) = delete;

  absl::Status Add(const Element& element);
  // Writes the index and the tail, syncs and renames the file.
  absl::Status Finish();

 private:
  CacheFileWriter(std::string path, std::unique_ptr<FileLock> lock,
                  std::unique_ptr<TFRecordWriter> records);
  absl::Status Write(const std::string& record);

  const std::string path_;
  std::unique_ptr<FileLock> lock_;  // null on a file system without locks
  std::unique_ptr<TFRecordWriter> records_;
  std::vector<int64_t> sizes_;  // of the elements' records
  int64_t offset_ = 0;
  bool finished_ = false;
};

// Reads a complete file. Not thread-safe.
class CacheFileReader {
 public:
  // Errors: FAILED_PRECONDITION if the file is of a pipeline with another description; DATA_LOSS if
  // it is not complete or is damaged. Each names the path and the cure.
  static absl::StatusOr<std::unique_ptr<CacheFileReader>> Open(absl::string_view path,
                                                               absl::string_view description);
  int64_t size() const { return static_cast<int64_t>(offsets_.size()); }
  // Next returns element `position`. REQUIRES: it is in [0, size()].
  void Seek(int64_t position) { position_ = position; }
  // The next element. REQUIRES: there is one.
  absl::StatusOr<Element> Next();

 private:
  explicit CacheFileReader(std::unique_ptr<TFRecordReader> records)
      : records_(std::move(records)) {}
  absl::Status ReadIndex(absl::string_view description);
  absl::StatusOr<std::string> ReadRecord(int64_t index, int64_t offset);

  std::unique_ptr<TFRecordReader> records_;
  std::vector<int64_t> offsets_;
  int64_t position_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_TRANSFORMS_CACHE_FILE_H_
