// Reads and writes the contents of files: whole, by appending, at an offset, or mapped. Every error
// contains the path and the system's message. A path as gs://bucket/name is a remote file, if its
// scheme is registered (remote/remote_file_system.h). This header exports path.h and
// file_system.h.
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
#include "estimator/base/string_arg.h"

namespace estimator {

class RemotePath;
class RemoteReader;
class RemoteWriter;

// Reads a whole file.
// Errors: those of opening it; FAILED_PRECONDITION for a directory, a pipe, a socket or a device,
// as RandomAccessFile and MmapFile have; DATA_LOSS, before anything is read, if it has more than
// max_bytes. A file in a folder that may be a stranger's may have any size and take no disk space.
absl::StatusOr<std::string> ReadFile(StringArg path, int64_t max_bytes = INT64_MAX);

// Writes to a temporary name, syncs, renames, and syncs the directory. A reader always sees either
// the old contents or the new contents, whole, even after a power loss. A killed process may leave
// the temporary file ".<name>.tmp-<pid>-<n>" in the same directory. If path is a symbolic link, the
// file it points to is replaced. If path is a device or a pipe, it is written to directly. A remote
// file has no temporary name: it appears when it is whole.
absl::Status WriteFileAtomically(StringArg path, StringArg contents);

// The same for a file whose name we derive, in a folder that may be a stranger's: a symbolic link
// or a pipe of that name is replaced, so that nothing outside the folder is written.
absl::Status WriteDerivedFile(StringArg path, StringArg contents);

// Copies the contents of a file into a derived one.
absl::Status CopyFile(StringArg from, StringArg to);

// Makes what was written to a file survive a power loss. It may have been written by another
// WritableFile: a sync is one of the file, not of a descriptor. A remote file needs none.
absl::Status SyncFile(StringArg path);

// A file being written, through a buffer. Not thread-safe. A remote file appears, or is replaced,
// when Close returns OK; until then readers see none of it, whatever Flush and Sync say. To append
// to a remote file, its contents are read and written again.
class WritableFile {
 public:
  enum class Mode {
    kTruncate,  // creates the file, or empties an existing one
    kAppend,    // appends to an existing file, or creates it
  };

  static absl::StatusOr<std::unique_ptr<WritableFile>> Open(StringArg path,
                                                            Mode mode = Mode::kTruncate);

  // Closes the file if Close was not called. An error of that is logged.
  ~WritableFile();
  WritableFile(const WritableFile&) = delete;
  WritableFile& operator=(const WritableFile&) = delete;

  // The first error is kept, and all later calls return it too.
  absl::Status Append(StringArg data);
  absl::Status Flush();  // writes the buffer to the system; other processes then see the data
  absl::Status Sync();   // flushes, and writes to the disk; the data then survives a power loss
  absl::Status Close();  // flushes; FAILED_PRECONDITION if the file is closed already
  // Closes the file, whose contents are of no use. The buffer is lost; a remote file stays as it
  // was. Errors: FAILED_PRECONDITION if the file is closed already.
  absl::Status Abandon();

  // Bytes in the file, including those still in the buffer.
  int64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  WritableFile(std::string path, int fd, int64_t size);
  absl::Status Write(StringArg data);
  absl::Status WriteRemote(absl::string_view data);
  absl::Status Commit();
  bool closed() const { return fd_ < 0 && remote_ == nullptr; }

  const std::string path_;
  int fd_;  // -1 once closed, and for a remote file
  int64_t size_;
  std::string buffer_;
  absl::Status status_;
  std::unique_ptr<const RemotePath> remote_;  // null once closed, and for a local file
  std::unique_ptr<RemoteWriter> writer_;      // of the remote file; made by the first Write
};

// A file read at any offset. Thread-safe.
class RandomAccessFile {
 public:
  static absl::StatusOr<std::unique_ptr<RandomAccessFile>> Open(StringArg path);
  ~RandomAccessFile();
  RandomAccessFile(const RandomAccessFile&) = delete;
  RandomAccessFile& operator=(const RandomAccessFile&) = delete;

  // Reads up to n bytes into buffer and returns the number read. It is less than n only at the end
  // of the file.
  absl::StatusOr<size_t> Read(int64_t offset, size_t n, char* buffer) const;

  // Reads exactly n bytes. Errors: OUT_OF_RANGE if the file ends before that.
  absl::Status ReadExactly(int64_t offset, size_t n, char* buffer) const;

  // Bytes in the file when it was opened.
  int64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  RandomAccessFile(std::string path, int fd, int64_t size,
                   std::unique_ptr<const RemoteReader> reader = nullptr);

  const std::string path_;
  const int fd_;  // -1 for a remote file
  const int64_t size_;
  const std::unique_ptr<const RemoteReader> reader_;  // null for a local file
};

// A local file mapped read-only. Thread-safe. The file must not be truncated while it is mapped;
// replacing it by rename is safe. Errors: UNIMPLEMENTED for a remote file.
class MmapFile {
 public:
  static absl::StatusOr<std::unique_ptr<MmapFile>> Open(StringArg path);
  ~MmapFile();
  MmapFile(const MmapFile&) = delete;
  MmapFile& operator=(const MmapFile&) = delete;

  // Valid as long as this object lives.
  absl::string_view data() const { return data_; }
  const std::string& path() const { return path_; }

 private:
  MmapFile(std::string path, absl::string_view data);

  const std::string path_;
  const absl::string_view data_;
};

}  // namespace estimator

#endif  // ESTIMATOR_BASE_FILE_H_
