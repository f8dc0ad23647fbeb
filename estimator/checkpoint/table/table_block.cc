#include "estimator/checkpoint/table/table_block.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/table/varint.h"

namespace estimator {
namespace {

constexpr int64_t kLengthsBytes = 30;  // three varints
constexpr int64_t kMaxRestarts = 1 << 16;

absl::Status Corrupt(int64_t offset, absl::string_view what) {
  return DataLoss("byte ", offset, " of it: ", what);
}

}  // namespace

absl::StatusOr<BlockWalker> BlockWalker::Open(ReadAt read_at, int64_t size) {
  uint32_t num_restarts = 0;
  uint32_t first_restart = 0;
  constexpr int64_t kWord = sizeof(num_restarts);
  if (size < kWord) return Corrupt(0, "too short for a block");
  EST_RETURN_IF_ERROR(
      read_at(size - kWord, sizeof(num_restarts), reinterpret_cast<char*>(&num_restarts)));
  // In 64 bits, where a damaged number of restarts cannot overflow.
  const int64_t end = size - kWord * (int64_t{num_restarts} + 1);
  if (num_restarts == 0 || end < 0) {
    return Corrupt(size - kWord, absl::StrCat("it cannot have ", num_restarts, " restarts"));
  }
  EST_RETURN_IF_ERROR(read_at(end, sizeof(first_restart), reinterpret_cast<char*>(&first_restart)));
  if (first_restart != 0) return Corrupt(end, "its first restart is not at its beginning");
  return BlockWalker(std::move(read_at), end, num_restarts);
}

absl::StatusOr<BlockWalker> BlockWalker::Open(absl::string_view block) {
  return Open(
      [block](int64_t offset, size_t n, char* bytes) {
        std::memcpy(bytes, block.data() + offset, n);
        return absl::OkStatus();
      },
      static_cast<int64_t>(block.size()));
}

absl::StatusOr<bool> BlockWalker::Next() {
  if (position_ >= end_) return false;
  EST_ASSIGN_OR_RETURN(const absl::string_view bytes, window_.At(position_, kLengthsBytes, end_));
  uint64_t shared = 0, fresh = 0, value = 0;
  size_t at = 0;
  if (!ReadVarint(bytes, &at, &shared) || !ReadVarint(bytes, &at, &fresh) ||
      !ReadVarint(bytes, &at, &value)) {
    return Corrupt(position_, "no entry begins there");
  }
  const int64_t key_begin = position_ + static_cast<int64_t>(at);
  const auto left = static_cast<uint64_t>(end_ - key_begin);
  if (shared > key_.size() || fresh > left || value > left - fresh) {
    return Corrupt(position_,
                   absl::StrCat("an entry does not fit: ", fresh, " bytes of its key, ", value,
                                " bytes of its value, and ", shared, " bytes of the key before"));
  }
  // The key is counted before it is read. After an error, entries may begin within the one that
  // failed, and reading them would not be counted.
  key_bytes_ += static_cast<int64_t>(shared + fresh);
  if (key_bytes_ > kMaxKeyBytes) return Corrupt(position_, kTooManyKeyBytes);
  std::string key = key_.substr(0, shared);
  // Most keys are in the bytes that were read for the lengths.
  if (fresh <= bytes.size() - at) {
    key.append(bytes.data() + at, fresh);
  } else {
    key.resize(shared + fresh);
    EST_RETURN_IF_ERROR(read_at_(key_begin, fresh, key.data() + shared));
  }
  // After a skip, the key before is not known.
  if (!begins_anew_ && key <= key_) return Corrupt(position_, "the keys are not in order");
  begins_anew_ = false;
  key_ = std::move(key);
  value_offset_ = key_begin + static_cast<int64_t>(fresh);
  value_size_ = static_cast<int64_t>(value);
  position_ = value_offset_ + value_size_;
  return true;
}

bool BlockWalker::SkipToRestart() {
  while (next_restart_ < std::min(num_restarts_, kMaxRestarts)) {
    uint32_t restart = 0;
    const int64_t at = end_ + next_restart_ * static_cast<int64_t>(sizeof(restart));
    ++next_restart_;
    const bool read = read_at_(at, sizeof(restart), reinterpret_cast<char*>(&restart)).ok();
    // Only forward, so that the walk of a damaged block ends.
    if (!read || restart <= position_ || restart >= end_) continue;
    position_ = restart;
    key_.clear();
    begins_anew_ = true;
    return true;
  }
  return false;
}

}  // namespace estimator
