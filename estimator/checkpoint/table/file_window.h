// Reads small fields at increasing offsets of a large file, a few KiB at a time.
#ifndef ESTIMATOR_CHECKPOINT_TABLE_FILE_WINDOW_H_
#define ESTIMATOR_CHECKPOINT_TABLE_FILE_WINDOW_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

// Reads n bytes at `offset` into `bytes`. The caller checks that they exist.
using ReadAt = std::function<absl::Status(int64_t offset, size_t n, char* bytes)>;

// Not thread-safe.
class FileWindow {
 public:
  explicit FileWindow(ReadAt read_at) : read_at_(std::move(read_at)) {}

  // The bytes at `offset`: at least n of them, or all up to `end`. Valid until the next call.
  absl::StatusOr<absl::string_view> At(int64_t offset, int64_t n, int64_t end) {
    const int64_t in_window = offset - begin_;
    const auto have = static_cast<int64_t>(bytes_.size()) - in_window;
    if (in_window < 0 || have < std::min(n, end - offset)) {
      bytes_.resize(static_cast<size_t>(std::min(std::max(n, kBytes), end - offset)));
      begin_ = offset;
      if (absl::Status status = read_at_(offset, bytes_.size(), bytes_.data()); !status.ok()) {
        bytes_.clear();
        return status;
      }
    }
    const auto limit = static_cast<size_t>(end - offset);
    return absl::string_view(bytes_).substr(static_cast<size_t>(offset - begin_), limit);
  }

 private:
  static constexpr int64_t kBytes = 4096;

  ReadAt read_at_;
  std::string bytes_;  // the window, which begins at begin_
  int64_t begin_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_TABLE_FILE_WINDOW_H_
