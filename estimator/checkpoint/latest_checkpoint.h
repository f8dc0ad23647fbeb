// Finds the newest checkpoint of a model directory that is whole.
#ifndef ESTIMATOR_CHECKPOINT_LATEST_CHECKPOINT_H_
#define ESTIMATOR_CHECKPOINT_LATEST_CHECKPOINT_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

// Whether `prefix` opens: its index is whole and its data files are there and long enough.
// Errors: as BundleReader::Open.
absl::Status CheckCheckpoint(absl::string_view prefix);

// When its index was written, or the last of its files where it is of the V1 format, in seconds
// since 1970; 0 where nothing of it is there.
double CheckpointModifiedTimeSeconds(absl::string_view prefix);

// The prefix of the newest whole checkpoint, which is the one that the state file names; nullopt if
// the directory or its state file is not there, or if nothing is left of the checkpoints that it
// names. Where the state file cannot be read, or its newest checkpoint is damaged or gone, the next
// newest whole one is taken (first of those that the state file names, then of all in the directory
// by step, those of the V1 format too), and `warnings` (the log, if null) says which and why.
// Errors: DATA_LOSS if there are checkpoints, but none that is whole: a run that began anew would
// take their place. Source: TF 2.15 tf.train.latest_checkpoint, which gives up where this one falls
// back.
absl::StatusOr<std::optional<std::string>> LatestCheckpoint(
    absl::string_view directory, std::vector<std::string>* warnings = nullptr);

// The same for a program that then reads the checkpoint: bytes that are not those that were written
// show themselves only there, and no file is read twice to find out. Not thread-safe.
//
//   for (;;) {
//     EST_ASSIGN_OR_RETURN(const std::optional<std::string> prefix, newest.Find());
//     const absl::Status status = Restore(*prefix);
//     if (!newest.PassOver(*prefix, status)) return status;
//   }
class NewestCheckpoint {
 public:
  explicit NewestCheckpoint(absl::string_view directory) : directory_(directory) {}

  // As LatestCheckpoint, without those that were passed over; whatever is wrong is logged once.
  absl::StatusOr<std::optional<std::string>> Find();

  // Whether what Find found last is not what the state file names, so that a warning was logged.
  bool fell_back() const { return !last_warning_.empty(); }

  // Reading `prefix` gave `status`. True if that means that the checkpoint is damaged (DATA_LOSS):
  // Find then knows better, until the checkpoint is written anew. False for OK and other errors.
  bool PassOver(const std::string& prefix, const absl::Status& status);

 private:
  struct Damage {
    double written = 0;  // CheckpointModifiedTimeSeconds
    absl::Status status;
  };
  absl::Status Check(const std::string& prefix) const;

  const std::string directory_;
  std::map<std::string, Damage> damaged_;  // by prefix
  std::string last_warning_;
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_LATEST_CHECKPOINT_H_
