// Finds the newest checkpoint of a model directory that is whole.
#ifndef ESTIMATOR_CHECKPOINT_LATEST_CHECKPOINT_H_
#define ESTIMATOR_CHECKPOINT_LATEST_CHECKPOINT_H_

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

// The prefix of the newest whole checkpoint, which is the one that the state file names; nullopt if
// the directory or its state file is not there, or if nothing is left of the checkpoints that it
// names. Where the state file cannot be read, or its newest checkpoint is damaged or gone, the next
// newest whole one is taken (first of those that the state file names, then of all in the directory
// by step), and `warnings` (the log, if null) says which and why. Errors: DATA_LOSS if there are
// checkpoints, but none that is whole: a run that began anew would take their place. Source:
// TF 2.15 tf.train.latest_checkpoint, which gives up where this one falls back.
absl::StatusOr<std::optional<std::string>> LatestCheckpoint(
    absl::string_view directory, std::vector<std::string>* warnings = nullptr);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_LATEST_CHECKPOINT_H_
