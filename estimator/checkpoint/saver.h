// Saver: saves checkpoints of a run into its model directory, and deletes the old ones.
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
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/checkpoint/checkpoint_state.h"

namespace estimator {

struct SaverOptions {
  // So many of the newest are kept. 0: all of them, and the state file lists all.
  int keep_checkpoint_max = 5;
  // Of those that would be deleted, one every so many hours is kept for good.
  double keep_checkpoint_every_n_hours = 10000;
  std::string basename = "model.ckpt";
  // Seconds since 1970; the system's clock if empty. For tests.
  std::function<double()> now_secs = nullptr;
};

// A serialized MetaGraphDef, made when it is to be written: nobody keeps the bytes.
struct MetaGraphSource {
  std::function<std::string()> make = nullptr;  // null: no file
  // Of one saver's calls, those of the same version give the same bytes.
  int64_t version = 0;
};

// What is saved beside the variables; nullopt leaves the file out.
struct SaverExtras {
  std::optional<std::string> input_state =
      std::nullopt;  // model.ckpt-N.input: the state of the input iterators
  // model.ckpt-N.meta. The same version as in the save before costs nothing: its file gets another
  // name (a hard link).
  MetaGraphSource meta_graph = {};
};

// One saver a run and directory; no other writes there at the same time. Not thread-safe.
class Saver {
 public:
  explicit Saver(SaverOptions options = {});

  // Saves <directory>/model.ckpt-<global_step> and returns this prefix. Arrays share their bytes:
  // nothing is copied. The order is: data, input state, meta graph, index, then the state file,
  // which commits; then old checkpoints are deleted. Killed at any instant, LatestCheckpoint finds
  // a whole checkpoint: this or the one before. The first call recovers the list of checkpoints
  // from the state file and removes what a killed run left half-written. A step that is saved again
  // takes the place of its old checkpoint. Errors: of the file system, with the path. The directory
  // is made if need be.
  absl::StatusOr<std::string> Save(absl::string_view directory, int64_t global_step,
                                   const std::map<std::string, Array>& variables,
                                   const SaverExtras& extras = {});

  // Those that the next Save counts, oldest first.
  const std::vector<std::string>& checkpoints() const { return state_.all_model_checkpoint_paths; }

 private:
  absl::Status Recover(absl::string_view directory);
  absl::Status WriteMetaGraph(const std::string& path, const MetaGraphSource& source);
  absl::Status Commit(absl::string_view directory, const std::string& prefix);
  std::vector<std::string> TakeOverLimit();

  const SaverOptions options_;
  std::string directory_;  // that state_ is of
  CheckpointState state_;
  double next_preserved_secs_ = 0;
  struct WrittenMetaGraph {
    int64_t version = 0;
    std::string path;
    int64_t num_bytes = 0;
  };
  std::optional<WrittenMetaGraph> meta_graph_;  // the last one
};

// Deletes the files of a checkpoint, of the V1 format too; those that are not there are no error.
absl::Status RemoveCheckpoint(absl::string_view prefix);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_SAVER_H_
