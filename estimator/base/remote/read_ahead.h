// ReadAhead: reads a remote file in large pieces, ahead of a reader that goes from front to back.
// A request takes tens of milliseconds, whatever it reads.
#ifndef ESTIMATOR_BASE_REMOTE_READ_AHEAD_H_
#define ESTIMATOR_BASE_REMOTE_READ_AHEAD_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <string>

#include "estimator/base/remote/remote_file_system.h"

namespace estimator {

// A read that continues the one before, or skips less than a megabyte, is served from a window of
// 4 MiB. The next window is fetched by a thread while this one is used, so a file takes at most
// 8 MiB of memory. A file of at most one window is fetched whole. Any other read is one request for
// exactly its bytes. Thread-safe.
class ReadAhead : public RemoteReader {
 public:
  static constexpr size_t kWindowBytes = size_t{4} << 20;

  ReadAhead(std::string path, std::unique_ptr<RemoteReader> file);

  absl::StatusOr<size_t> Read(int64_t offset, size_t n, char* buffer) const override;
  int64_t size() const override { return file_->size(); }

 private:
  // Copies what the window has of the n bytes at the offset. Returns the number of bytes.
  size_t TakeFromWindow(int64_t offset, size_t n, char* buffer) const;
  // Makes the window begin at the offset, or before it.
  absl::Status MoveWindow(int64_t offset) const;
  int64_t WindowEnd() const { return begin_ + static_cast<int64_t>(window_.size()); }

  const std::string path_;
  const std::unique_ptr<const RemoteReader> file_;
  mutable std::mutex mutex_;         // guards what follows
  mutable int64_t next_offset_ = 0;  // where a reader from front to back continues
  mutable std::string window_;       // the bytes from begin_ on
  mutable int64_t begin_ = 0;
  mutable bool continued_ = false;  // whether the window follows the one before
  mutable std::future<absl::StatusOr<std::string>> next_;  // the window behind this one
};

}  // namespace estimator

#endif  // ESTIMATOR_BASE_REMOTE_READ_AHEAD_H_
