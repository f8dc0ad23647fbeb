// A remote file system in memory, for tests of what trains, reads and writes remotely.
#ifndef ESTIMATOR_BASE_TESTING_MEMORY_FILE_SYSTEM_H_
#define ESTIMATOR_BASE_TESTING_MEMORY_FILE_SYSTEM_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "estimator/base/remote/remote_file_system.h"

namespace estimator {

// Has the paths mem://... for its lifetime, as an object store has them: a file appears when it is
// whole, and directories exist by the names below them. One at a time. Thread-safe.
class MemoryFileSystem : public RemoteFileSystem {
 public:
  // Called with "stat", "list", "read", "write", "commit", "remove" or "copy" before each such
  // request, on any thread. It may wait, and an error is that of the request.
  using Request = std::function<absl::Status(absl::string_view request, absl::string_view path)>;

  MemoryFileSystem();
  ~MemoryFileSystem() override;

  void OnRequest(Request hook);
  // Requests since the start: those of one kind, or all.
  int64_t num_requests(absl::string_view request = "") const;
  // Bytes that readers were sent.
  int64_t bytes_read() const { return bytes_read_; }
  // The files, by path.
  std::map<std::string, std::string> Files() const;

  absl::StatusOr<RemoteFileInfo> Stat(const std::string& path) override;
  absl::StatusOr<std::vector<Entry>> List(const std::string& directory) override;
  absl::StatusOr<std::unique_ptr<RemoteReader>> OpenToRead(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<RemoteWriter>> OpenToWrite(const std::string& path) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status RemoveDirectory(const std::string& path) override;
  absl::Status Copy(const std::string& from, const std::string& to) override;

 private:
  struct File {
    std::shared_ptr<const std::string> contents;
    double modified_seconds = 0;
  };
  class Reader;
  class Writer;

  absl::Status Ask(absl::string_view request, absl::string_view path);
  void Put(const std::string& path, std::shared_ptr<const std::string> contents);

  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, File> files_;
  std::map<std::string, int64_t, std::less<>> num_requests_;
  Request hook_;
  std::atomic<int64_t> bytes_read_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_BASE_TESTING_MEMORY_FILE_SYSTEM_H_
