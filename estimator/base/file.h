// The contents of files: whole, appended to, read at an offset, mapped. Every error carries the
// path and the system's words. Includes the functions on paths and on the file system.
#ifndef ESTIMATOR_BASE_FILE_H_
#define ESTIMATOR_BASE_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "estimator/base/file_system.h"  // IWYU pragma: export
#include "estimator/base/path.h"         // IWYU pragma: export

namespace estimator {

absl::StatusOr<std::string> ReadFile(absl::string_view path);

// Writes to a temporary name, syncs, renames, syncs the directory: at any instant a reader sees the
// old contents or the new, whole, also after a power loss. A kill may leave the temporary file
// behind: ".<name>.tmp-<pid>-<n>" in the same directory. Where path is a link, the file that it
// points to is replaced; where it is a device or a pipe, it is just written to.
absl::Status WriteFileAtomically(absl::string_view path, absl::string_view contents);

// A file being written, through a buffer. Not thread-safe.
class WritableFile {
 public:
  enum class Mode {
    kTruncate,  // begin a new file, or an old one anew
    kAppend,    // go on at its end; begins a new one if there is none
  };

  static absl::StatusOr<std::unique_ptr<WritableFile>> Open(absl::string_view path,
                                                            Mode mode = Mode::kTruncate);

  // Closes if Close was not called, and logs an error that this meets.
  ~WritableFile();
  WritableFile(const WritableFile&) = delete;
  WritableFile& operator=(const WritableFile&) = delete;

  // The first error is kept: all later calls return it too.
  absl::Status Append(absl::string_view data);
  absl::Status Flush();  // to the system: other processes see it
  absl::Status Sync();   // to the disk: it survives a power loss
  absl::Status Close();  // flushes; once

  // Bytes in the file when all that was appended is written.
  int64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  WritableFile(std::string path, int fd, int64_t size);
  absl::Status Write(absl::string_view data);

  const std::string path_;
  int fd_;  // -1 once closed
  int64_t size_;
  std::string buffer_;
  absl::Status status_;
};

// A file read at any offset. Thread-safe.
class RandomAccessFile {
 public:
  static absl::StatusOr<std::unique_ptr<RandomAccessFile>> Open(absl::string_view path);
  ~RandomAccessFile();
  RandomAccessFile(const RandomAccessFile&) = delete;
  RandomAccessFile& operator=(const RandomAccessFile&) = delete;

  // Reads up to n bytes into buffer; returns how many: fewer than n only at the file's end.
  absl::StatusOr<size_t> Read(int64_t offset, size_t n, char* buffer) const;

  // Reads n bytes. OUT_OF_RANGE if the file ends before.
  absl::Status ReadExactly(int64_t offset, size_t n, char* buffer) const;

  // Bytes in the file when it was opened.
  int64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  RandomAccessFile(std::string path, int fd, int64_t size);

  const std::string path_;
  const int fd_;
  const int64_t size_;
};

// A file mapped read-only. Thread-safe. The file must not be made shorter meanwhile; replacing it
// by rename is fine.
class MmapFile {
 public:
  static absl::StatusOr<std::unique_ptr<MmapFile>> Open(absl::string_view path);
  ~MmapFile();
  MmapFile(const MmapFile&) = delete;
  MmapFile& operator=(const MmapFile&) = delete;

  // Valid as long as this object.
  absl::string_view data() const { return data_; }
  const std::string& path() const { return path_; }

 private:
  MmapFile(std::string path, absl::string_view data);

  const std::string path_;
  const absl::string_view data_;
};

}  // namespace estimator

#endif  // ESTIMATOR_BASE_FILE_H_
