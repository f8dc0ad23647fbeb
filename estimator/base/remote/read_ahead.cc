#include "estimator/base/remote/read_ahead.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "estimator/base/status.h"

namespace estimator {
namespace {

// Of a scan that reads the head of each record and skips the rest: fetching the gap costs less than
// a request.
constexpr int64_t kMaxGapBytes = int64_t{1} << 20;

absl::StatusOr<std::string> Fetch(const RemoteReader& file, const std::string& path, int64_t offset,
                                  size_t n) {
  std::string bytes(n, '\0');
  EST_ASSIGN_OR_RETURN(const size_t count, file.Read(offset, n, bytes.data()));
  if (count == n) return bytes;
  return absl::UnavailableError(absl::StrCat(
      "cannot read ", path, ": it ended at byte ", offset + static_cast<int64_t>(count), " of ",
      file.size(), "; it may have been replaced while it was read"));
}

}  // namespace

ReadAhead::ReadAhead(std::string path, std::unique_ptr<RemoteReader> file)
    : path_(std::move(path)), file_(std::move(file)) {}

absl::StatusOr<size_t> ReadAhead::Read(int64_t offset, size_t n, char* buffer) const {
  if (offset >= size()) return 0;
  n = std::min(n, static_cast<size_t>(size() - offset));
  std::unique_lock<std::mutex> lock(mutex_);
  const bool in_order = offset >= next_offset_ && offset - next_offset_ < kMaxGapBytes;
  const bool in_window = offset >= begin_ && offset < WindowEnd();
  const bool is_small = size() <= static_cast<int64_t>(kWindowBytes);
  next_offset_ = offset + static_cast<int64_t>(n);
  size_t done = 0;
  while (done < n) {
    const int64_t at = offset + static_cast<int64_t>(done);
    const size_t taken = TakeFromWindow(at, n - done, buffer + done);
    done += taken;
    if (taken > 0) continue;
    // A large read gains nothing from the window, and its copy would cost memory bandwidth.
    if ((!in_order && !in_window && !is_small) || (n - done >= kWindowBytes && !next_.valid())) {
      lock.unlock();
      EST_ASSIGN_OR_RETURN(const size_t count, file_->Read(at, n - done, buffer + done));
      return done + count;
    }
    EST_RETURN_IF_ERROR(MoveWindow(at));
  }
  return done;
}

size_t ReadAhead::TakeFromWindow(int64_t offset, size_t n, char* buffer) const {
  if (offset < begin_ || offset >= WindowEnd()) return 0;
  const auto skipped = static_cast<size_t>(offset - begin_);
  const size_t count = std::min(n, window_.size() - skipped);
  std::memcpy(buffer, window_.data() + skipped, count);
  // Not at once: a reader may want no more than the head of the file.
  if (!next_.valid() && (continued_ || skipped + count > kWindowBytes / 2)) {
    const int64_t begin = WindowEnd();
    const size_t bytes = std::min(kWindowBytes, static_cast<size_t>(size() - begin));
    if (bytes > 0) {
      next_ = std::async(std::launch::async,
                         [this, begin, bytes] { return Fetch(*file_, path_, begin, bytes); });
    }
  }
  return count;
}

absl::Status ReadAhead::MoveWindow(int64_t offset) const {
  const int64_t end = WindowEnd();
  if (next_.valid()) {
    // Waits for the thread in any case, so that one request at a time is on its way.
    absl::StatusOr<std::string> fetched = next_.get();
    if (offset >= end && offset < end + static_cast<int64_t>(kWindowBytes)) {
      EST_RETURN_IF_ERROR(fetched.status());
      window_ = *std::move(fetched);
      begin_ = end;
      continued_ = true;
      return absl::OkStatus();
    }
  }
  const bool is_small = size() <= static_cast<int64_t>(kWindowBytes);
  const int64_t begin = is_small ? 0 : offset;
  const size_t bytes = std::min(kWindowBytes, static_cast<size_t>(size() - begin));
  EST_ASSIGN_OR_RETURN(window_, Fetch(*file_, path_, begin, bytes));
  begin_ = begin;
  continued_ = false;
  return absl::OkStatus();
}

}  // namespace estimator
