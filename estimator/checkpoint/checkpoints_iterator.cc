#include "estimator/checkpoint/checkpoints_iterator.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "estimator/base/interrupt.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/saver.h"
#include "glog/logging.h"

namespace estimator {

CheckpointsIterator::CheckpointsIterator(StringArg directory, CheckpointsIteratorOptions options)
    : directory_(directory), options_(std::move(options)) {
  if (!options_.now_secs) options_.now_secs = SystemSecs;
  if (!options_.sleep) {
    options_.sleep = [](double seconds) { absl::SleepFor(absl::Seconds(seconds)); };
  }
}

std::optional<std::string> CheckpointsIterator::WaitForNew() {
  const double begin = options_.now_secs();
  bool waits = false;
  while (!InterruptRequested()) {
    // Asked first: a checkpoint that is written meanwhile is found.
    const bool ended = options_.has_ended && options_.has_ended();
    std::vector<std::string> warnings;
    const auto latest = LatestCheckpoint(directory_, &warnings);
    const std::string problem =
        latest.ok() ? absl::StrJoin(warnings, "; ") : std::string(latest.status().message());
    // The directory is polled, so a problem that lasts is logged only once.
    LOG_IF(WARNING, !problem.empty() && problem != last_problem_) << problem;
    last_problem_ = problem;
    if (latest.ok() && *latest && **latest != last_) return *latest;
    ended_ = ended;
    if (ended) return std::nullopt;
    // As in TensorFlow, a sleep that would exceed the timeout does not begin.
    if (options_.timeout_secs &&
        options_.now_secs() + options_.poll_secs > begin + *options_.timeout_secs) {
      return std::nullopt;
    }
    LOG_IF(INFO, !waits) << "Waiting for new checkpoint at " << directory_
                         << (options_.timeout_secs
                                 ? absl::StrCat(", for at most ", *options_.timeout_secs, " s")
                                 : ", without a time limit");
    waits = true;
    options_.sleep(options_.poll_secs);
  }
  return std::nullopt;
}

std::optional<std::string> CheckpointsIterator::Next() {
  // Sleeps in short pieces, so that an interrupt ends the wait.
  while (last_secs_ && !InterruptRequested()) {
    const double left = *last_secs_ + options_.min_interval_secs - options_.now_secs();
    if (left <= 0) break;
    options_.sleep(std::min(left, options_.poll_secs));
  }
  while (true) {
    std::optional<std::string> found = WaitForNew();
    if (found) {
      last_ = *found;
      last_secs_ = options_.now_secs();
      return found;
    }
    if (ended_ || InterruptRequested()) return std::nullopt;
    if (!options_.timeout_fn) {
      LOG(INFO) << "Timed-out waiting for a checkpoint: no new one at " << directory_ << " within "
                << options_.timeout_secs.value_or(0) << " s";
      return std::nullopt;
    }
    if (options_.timeout_fn()) return std::nullopt;
  }
}

}  // namespace estimator
