// Finds the newest checkpoint of a model directory that is not damaged.
#ifndef ESTIMATOR_CHECKPOINT_LATEST_CHECKPOINT_H_
#define ESTIMATOR_CHECKPOINT_LATEST_CHECKPOINT_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"

namespace estimator {

// Checks that the checkpoint opens: its index is valid, and its data files exist and are long
// enough.
// Errors: as BundleReader::Open.
absl::Status CheckCheckpoint(StringArg prefix);

// Checks that a model directory is not, by mistake, the prefix or a file of a checkpoint. The
// directory need not exist.
// Errors: INVALID_ARGUMENT with the directory to give instead.
absl::Status CheckModelDir(StringArg model_dir);

// The time when the index was written, in seconds since 1970. For a V1 checkpoint it is the time of
// its newest file. 0 if the checkpoint does not exist.
double CheckpointModifiedTimeSeconds(StringArg prefix);

// The prefix of the newest whole checkpoint. This is normally the one that the state file names.
// Returns nullopt if there is no directory or no checkpoint in it.
//
// If the state file is missing or damaged, or if its newest checkpoint is damaged or gone, this
// falls back to the next whole one. It tries those in the state file first, then all in the
// directory by step, including V1 checkpoints. A warning with the checkpoint and the reason is
// added to `warnings`, or logged if that is null.
//
// Errors: DATA_LOSS if there are checkpoints, but all are damaged. A new run would replace them.
// The error of the file system if the state file or a checkpoint may be whole but cannot be read,
// such as PERMISSION_DENIED: a run that fell back would replace it.
// Source: TF 2.15 tf.train.latest_checkpoint, which does not fall back.
absl::StatusOr<std::optional<std::string>> LatestCheckpoint(
    StringArg directory, std::vector<std::string>* warnings = nullptr);

// The same for a program that then reads the checkpoint. Damaged values are found only by reading
// them, and no file should be read twice for that. Not thread-safe.
//
//   for (;;) {
//     EST_ASSIGN_OR_RETURN(const std::optional<std::string> prefix, newest.Find());
//     const absl::Status status = Restore(*prefix);
//     if (!newest.PassOver(*prefix, status)) return status;
//   }
class NewestCheckpoint {
 public:
  explicit NewestCheckpoint(StringArg directory) : directory_(directory) {}

  // As LatestCheckpoint, but without checkpoints that PassOver marked as damaged. Each warning is
  // logged once.
  absl::StatusOr<std::optional<std::string>> Find();

  // Whether the last Find logged a warning, for example because it fell back to another checkpoint.
  bool fell_back() const { return !last_warning_.empty(); }

  // Reports the status of reading `prefix`. If it is DATA_LOSS, the checkpoint is damaged: this
  // returns true, and Find skips the checkpoint until it is written again. If another process has
  // deleted or replaced the checkpoint since Find, this returns true as well for NOT_FOUND: a run
  // that keeps few checkpoints deletes the old one after each save. Returns false for OK and for
  // other errors.
  bool PassOver(const std::string& prefix, const absl::Status& status);

 private:
  struct Damage {
    double written = 0;  // CheckpointModifiedTimeSeconds
    absl::Status status;
  };
  absl::Status Check(const std::string& prefix) const;

  const std::string directory_;
  std::map<std::string, Damage> damaged_;      // by prefix
  std::pair<std::string, double> found_ = {};  // by the last Find, and when it was written
  std::string last_warning_;
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_LATEST_CHECKPOINT_H_
