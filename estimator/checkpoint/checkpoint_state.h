// Reads and writes the file `checkpoint` of a model directory, which lists its checkpoints.
// TensorFlow's format:
//
//   model_checkpoint_path: "model.ckpt-50"               the newest checkpoint
//   all_model_checkpoint_paths: "model.ckpt-40"          all checkpoints, the oldest first
//   all_model_checkpoint_paths: "model.ckpt-50"
//   all_model_checkpoint_timestamps: 1700000000.25       seconds since 1970, one for each path;
//   all_model_checkpoint_timestamps: 1700000600.5        optional
//   last_preserved_timestamp: 1700000000.25              optional
//
// It is the text form of CheckpointState (estimator/proto/checkpoint_state.proto). Paths are
// relative to the directory, so that the directory can be moved. The file is renamed into place
// after all files that it names. This rename commits a checkpoint.
#ifndef ESTIMATOR_CHECKPOINT_CHECKPOINT_STATE_H_
#define ESTIMATOR_CHECKPOINT_CHECKPOINT_STATE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"

namespace estimator {

struct CheckpointState {
  std::string model_checkpoint_path = {};                    // the newest
  std::vector<std::string> all_model_checkpoint_paths = {};  // from the oldest to the newest
  // Seconds since 1970, one for each path, or empty.
  std::vector<double> all_model_checkpoint_timestamps = {};
  double last_preserved_timestamp = 0;  // of the newest one that is kept permanently; 0 if none
  std::string copied_from = {};  // read only: the other directory whose paths the file lists, or ""
};

// "<directory>/checkpoint"
std::string CheckpointStatePath(StringArg directory);

// Reads the state file. Relative paths are joined to the directory. TensorFlow's default Saver
// writes absolute paths, which a copy of the directory has too. So a path into another directory
// becomes that of the same name in this one, if there is such a checkpoint.
// Errors: NOT_FOUND if there is no state file; DATA_LOSS if it cannot be parsed or names no
// checkpoint. Source: TF 2.15 tf.train.get_checkpoint_state.
absl::StatusOr<CheckpointState> GetCheckpointState(StringArg directory);

// Replaces the state file atomically. Paths in the directory are written relative to it.
absl::Status WriteCheckpointState(StringArg directory, const CheckpointState& state);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_CHECKPOINT_STATE_H_
