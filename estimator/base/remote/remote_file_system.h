// File systems that are not this machine's. The functions of file.h and file_system.h take paths as
// gs://bucket/name; those of a registered scheme go to its RemoteFileSystem, all others to the
// system. This folder knows no such file system: estimator/remote registers those of object stores,
// and tests register one in memory (testing/memory_file_system.h).
#ifndef ESTIMATOR_BASE_REMOTE_REMOTE_FILE_SYSTEM_H_
#define ESTIMATOR_BASE_REMOTE_REMOTE_FILE_SYSTEM_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "estimator/base/string_arg.h"

namespace estimator {

// What a name is. A directory is a name with others below it: object stores have no others.
struct RemoteFileInfo {
  enum class Kind { kNone, kFile, kDirectory };
  Kind kind = Kind::kNone;
  int64_t size = 0;             // bytes of a file
  double modified_seconds = 0;  // since 1970; 0 if the store does not say
};

// Reads one file. Thread-safe.
class RemoteReader {
 public:
  virtual ~RemoteReader() = default;
  // Reads n bytes, and less only at the end of the file. Returns the number read.
  virtual absl::StatusOr<size_t> Read(int64_t offset, size_t n, char* buffer) const = 0;
  virtual int64_t size() const = 0;
};

// Writes one file. It appears, whole, when Commit returns OK, and replaces one of that name at the
// same time. Without Commit nothing changes. Not thread-safe.
class RemoteWriter {
 public:
  virtual ~RemoteWriter() = default;
  virtual absl::Status Write(absl::string_view data) = 0;
  virtual absl::Status Commit() = 0;
};

// Thread-safe. Paths begin with the scheme and do not end in '/'. Every error names the path, and
// the code is UNAVAILABLE for what may be better later. Retries are the implementation's.
class RemoteFileSystem {
 public:
  struct Entry {
    std::string name;  // without the directory
    RemoteFileInfo info;
  };

  virtual ~RemoteFileSystem() = default;
  // Errors: what keeps the answer unknown. That nothing has the name is no error.
  virtual absl::StatusOr<RemoteFileInfo> Stat(const std::string& path) = 0;
  // In any order; empty if nothing is there.
  virtual absl::StatusOr<std::vector<Entry>> List(const std::string& directory) = 0;
  // Errors: NOT_FOUND, also for a directory.
  virtual absl::StatusOr<std::unique_ptr<RemoteReader>> OpenToRead(const std::string& path) = 0;
  virtual absl::StatusOr<std::unique_ptr<RemoteWriter>> OpenToWrite(const std::string& path) = 0;
  // Errors: NOT_FOUND.
  virtual absl::Status Remove(const std::string& path) = 0;
  // Removes everything below the name. OK if nothing is there.
  virtual absl::Status RemoveDirectory(const std::string& path) = 0;
  // Copies a file, within the store where it can. `to` appears whole. Errors: NOT_FOUND.
  virtual absl::Status Copy(const std::string& from, const std::string& to) = 0;
};

// Makes `file_system` that of the paths "<scheme>://...", until null is registered. It must live
// until then.
void RegisterRemoteFileSystem(absl::string_view scheme, RemoteFileSystem* file_system);

// Whether a registered file system has the path.
bool IsRemotePath(StringArg path);

// The end of a message: "; this program has no file system for hdfs://", with those that it has.
// Empty for a path that is local or has a file system.
std::string NoFileSystemFor(absl::string_view path);

// A path and its file system. The functions ask the fault injector (fault_injection.h).
class RemotePath {
 public:
  explicit RemotePath(StringArg path);
  explicit operator bool() const { return file_system_ != nullptr; }  // false: a local path

  absl::StatusOr<RemoteFileInfo> Stat() const;
  // The same for a name that must be there. Errors: NOT_FOUND.
  absl::StatusOr<RemoteFileInfo> Find() const;
  absl::StatusOr<std::vector<RemoteFileSystem::Entry>> List() const;
  // Reads ahead (read_ahead.h).
  absl::StatusOr<std::unique_ptr<RemoteReader>> OpenToRead() const;
  absl::StatusOr<std::unique_ptr<RemoteWriter>> OpenToWrite() const;
  absl::Status Remove() const;
  absl::Status RemoveDirectory() const;
  absl::Status CopyTo(const RemotePath& to) const;
  // Writes and removes a file: nothing else tells whether the user may write.
  absl::Status CheckWritable() const;
  // As Glob of file_system.h.
  absl::StatusOr<std::vector<std::string>> Glob() const;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  RemoteFileSystem* file_system_;
};

}  // namespace estimator

#endif  // ESTIMATOR_BASE_REMOTE_REMOTE_FILE_SYSTEM_H_
