// StartCheckpoint: the checkpoint that a loop or an export starts from.
#ifndef ESTIMATOR_TRAINING_MODEL_START_CHECKPOINT_H_
#define ESTIMATOR_TRAINING_MODEL_START_CHECKPOINT_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/training/peers/peers.h"

namespace estimator {

struct CheckpointChoice {
  enum class By {
    kNewest,  // of model_dir: another one replaces it if it is damaged or deleted
    kCaller,  // by path: a damaged one is an error
  };
  By by = By::kNewest;
  std::string prefix;  // empty: there is no checkpoint
};

// `mine` with the checkpoint of the chief's: the newest one that each rank finds may differ. A
// checkpoint in model_dir is sent without its folder, which may be at another place here.
absl::StatusOr<CheckpointChoice> CheckpointOfChief(Peers& peers, const std::string& model_dir,
                                                   absl::StatusOr<CheckpointChoice> mine);

// One attempt to start from a checkpoint.
class CheckpointAttempt {
 public:
  explicit CheckpointAttempt(std::string prefix) : prefix_(std::move(prefix)) {}
  // The checkpoint; empty if there is none.
  const std::string& prefix() const { return prefix_; }
  // Returns `status`, the result of a read from this checkpoint. DATA_LOSS marks the checkpoint as
  // damaged. Errors of anything else, such as the input, must not pass through here.
  absl::Status Reading(absl::Status status) {
    read_ = status;
    return status;
  }
  const absl::Status& read() const { return read_; }

 private:
  const std::string prefix_;
  absl::Status read_;
};

// Remembers which checkpoints are damaged, so that each is reported once. Not thread-safe.
class StartCheckpoint {
 public:
  explicit StartCheckpoint(absl::string_view model_dir) : newest_(model_dir) {}

  // The checkpoint at `checkpoint_path` if the caller gave one, else the newest of model_dir that
  // is not known to be damaged.
  // Errors: those of CheckCheckpoint, with the prefix "checkpoint_path"; those of LatestCheckpoint.
  absl::StatusOr<CheckpointChoice> Choose(
      const std::optional<std::string>& checkpoint_path = std::nullopt);

  // Calls `start` with the chosen checkpoint. If it fails because that checkpoint is damaged, logs
  // a warning and calls `start` again with the checkpoint before. If it fails because another
  // process has deleted that checkpoint meanwhile, calls `start` again with the newest. Returns the
  // prefix of the one that it started from. Errors: those of `start`; DATA_LOSS if no checkpoint of
  // model_dir is whole.
  absl::StatusOr<std::string> Start(CheckpointChoice choice,
                                    const std::function<absl::Status(CheckpointAttempt&)>& start);

  // Whether the newest checkpoint is not the one that the state file names.
  bool fell_back() const { return newest_.fell_back(); }

 private:
  NewestCheckpoint newest_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_START_CHECKPOINT_H_
