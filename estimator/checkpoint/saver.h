// Saver saves the checkpoints of a run in its model directory and deletes old ones.
#ifndef ESTIMATOR_CHECKPOINT_SAVER_H_
#define ESTIMATOR_CHECKPOINT_SAVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"
#include "estimator/checkpoint/checkpoint_state.h"
#include "estimator/checkpoint/input_file.h"

namespace estimator {

struct SaverOptions {
  // The number of newest checkpoints to keep. 0 keeps all of them, and the state file lists all.
  int64_t keep_checkpoint_max = 5;
  // Keeps one checkpoint permanently every n hours, of those that would be deleted.
  double keep_checkpoint_every_n_hours = 10000;
  std::string basename = "model.ckpt";
  // A clock in seconds since 1970, for tests. If empty, the system's clock is used.
  std::function<double()> now_secs = nullptr;
};

// The system's clock, in seconds since 1970.
double SystemSecs();

// Makes a serialized MetaGraphDef only when it is written, so the bytes are not kept in memory.
struct MetaGraphSource {
  // Called at most once in a save. If null, only the file of the last save can be used.
  std::function<std::string()> make = nullptr;
  // 0 writes no file. Calls of one saver with the same version must give the same bytes.
  int64_t version = 0;
};

// Files that are saved beside the variables.
struct SaverExtras {
  // The state of the input iterators, for model.ckpt-N.input. nullopt writes no file. The file also
  // gets the checksum of the graph (input_file.h).
  std::optional<std::string> input_state = std::nullopt;
  // The position in the epochs, which is a part of the same file. Empty: none.
  std::string epochs = {};
  // model.ckpt-N.meta. If the version is that of the last save, that file is hard-linked. If there
  // is no `make` and that file has disappeared, none is written, with a warning.
  MetaGraphSource meta_graph = {};
};

// REQUIRES: no other saver writes to the same directory at the same time. Not thread-safe.
class Saver {
 public:
  explicit Saver(SaverOptions options = {});

  // Saves <directory>/model.ckpt-<global_step> and returns this prefix. The directory is created if
  // it does not exist. A step that is saved again replaces its old checkpoint.
  //
  // Files are written in this order: data, input state, meta graph, index, state file. Writing the
  // state file commits the checkpoint; old checkpoints are deleted after that. If the process is
  // killed at any time, LatestCheckpoint finds a whole checkpoint: this one or the one before.
  // The first call reads the list of checkpoints from the state file, and removes incomplete files
  // of a killed run.
  //
  // Errors: INVALID_ARGUMENT for options or a step out of range; those of the file system, with the
  // path, the cure, and the checkpoint that the next start continues from. After an error of the
  // file system the next call begins as the first one does.
  absl::StatusOr<std::string> Save(StringArg directory, int64_t global_step,
                                   const std::map<std::string, Array>& variables,
                                   const SaverExtras& extras = {});

  // The prefix that Save returns.
  std::string Prefix(StringArg directory, int64_t global_step) const;
  // Whether Save would link or keep the graph of this version, and so does not need `make`.
  bool HasMetaGraph(int64_t version) const;

  // The checkpoints that count towards keep_checkpoint_max, oldest first.
  const std::vector<std::string>& checkpoints() const { return state_.all_model_checkpoint_paths; }

 private:
  absl::Status Recover(StringArg directory);
  absl::Status Write(StringArg directory, const std::string& prefix,
                     const std::map<std::string, Array>& variables, const SaverExtras& extras);
  absl::Status WriteInputAndGraph(const std::string& prefix, const SaverExtras& extras);
  absl::Status Commit(StringArg directory, const std::string& prefix);
  void WarnOfOtherRun(StringArg directory) const;
  std::vector<std::string> TakeOverLimit();

  const SaverOptions options_;
  std::string directory_;   // the directory that state_ describes
  bool recovered_ = false;  // whether state_ describes it
  bool deletion_failed_ = false;
  CheckpointState state_;
  double next_preserved_secs_ = 0;
  struct WrittenMetaGraph {
    int64_t version = 0;
    std::string path;
    FileChecksum checksum;
  };
  std::optional<WrittenMetaGraph> meta_graph_;  // the last one written
};

// Deletes the files of a checkpoint, including V1 checkpoints. Missing files are no error.
absl::Status RemoveCheckpoint(StringArg prefix);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_SAVER_H_
