#include "estimator/data/pipeline/skipped_errors.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// FNV-1a. On disk: do not change.
uint64_t HashOf(absl::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

absl::Status SkippedErrors::Skip(const absl::Status& error, absl::string_view where,
                                 absl::string_view note) {
  if (!absl::IsDataLoss(error) && !absl::IsInvalidArgument(error)) return error;
  const uint64_t hash = HashOf(where);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (skipped_.contains(hash)) return absl::OkStatus();
  const auto count = static_cast<int64_t>(skipped_.size());
  if (count >= max_errors_) {
    return absl::Status(
        error.code(),
        absl::StrCat(error.message(), "; IgnoreErrors(", max_errors_, ") has skipped ", count,
                     " damaged elements before it and skips no more"));
  }
  skipped_.insert(hash);
  LOG(WARNING) << error.message() << "; it is skipped" << note
               << "; damaged elements so far: " << count + 1 << ", at most " << max_errors_;
  return absl::OkStatus();
}

void SkippedErrors::Save(StateWriter& state) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  state.Int(static_cast<uint64_t>(skipped_.size()));
  for (const uint64_t hash : skipped_) state.Int(hash);
}

absl::Status SkippedErrors::Restore(StateReader& state) {
  EST_ASSIGN_OR_RETURN(const uint64_t count, state.Unsigned());
  // A hash takes at least one byte, so a damaged count cannot loop for long.
  if (count > state.remaining()) return DataLoss("IgnoreErrors: the state is cut short");
  std::set<uint64_t> restored;
  for (uint64_t i = 0; i < count; ++i) {
    EST_ASSIGN_OR_RETURN(const uint64_t hash, state.Unsigned());
    restored.insert(hash);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  skipped_ = std::move(restored);
  return absl::OkStatus();
}

}  // namespace estimator
