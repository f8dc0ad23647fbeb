// The file `checkpoint` of a model directory: which checkpoints there are. TensorFlow's format:
//
//   model_checkpoint_path: "model.ckpt-50"
//   all_model_checkpoint_paths: "model.ckpt-40"          oldest first
//   all_model_checkpoint_paths: "model.ckpt-50"
//   all_model_checkpoint_timestamps: 1700000000.25       seconds since 1970, one a path; optional
//   all_model_checkpoint_timestamps: 1700000600.5
//   last_preserved_timestamp: 1700000000.25              optional
//
// It is the text form of CheckpointState (estimator/proto/checkpoint_state.proto). Paths are
// relative to the directory, so that it can be moved. The file is renamed into place after
// everything that it names: this is the commit point of a checkpoint.
#ifndef ESTIMATOR_CHECKPOINT_CHECKPOINT_STATE_H_
#define ESTIMATOR_CHECKPOINT_CHECKPOINT_STATE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

struct CheckpointState {
  std::string model_checkpoint_path = {};                    // the newest
  std::vector<std::string> all_model_checkpoint_paths = {};  // oldest first, the newest last
  std::vector<double> all_model_checkpoint_timestamps =
      {};                               // seconds since 1970; empty, or one a path
  double last_preserved_timestamp = 0;  // of the newest one that is kept for good; 0: none yet
};

// "<directory>/checkpoint"
std::string CheckpointStatePath(absl::string_view directory);

// The state, with the paths joined to the directory where they are relative.
// Errors: NOT_FOUND if there is no state file; DATA_LOSS if it cannot be parsed or names no
// checkpoint. Source: TF 2.15 tf.train.get_checkpoint_state.
absl::StatusOr<CheckpointState> GetCheckpointState(absl::string_view directory);

// Replaces the state file, atomically. Paths in the directory are written relative to it.
absl::Status WriteCheckpointState(absl::string_view directory, const CheckpointState& state);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_CHECKPOINT_STATE_H_
