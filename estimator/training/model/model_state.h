// ModelState: a model's variables in memory, and the checkpoint whose values they have.
#ifndef ESTIMATOR_TRAINING_MODEL_MODEL_STATE_H_
#define ESTIMATOR_TRAINING_MODEL_MODEL_STATE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/variable_store.h"
#include "estimator/training/model/scaffold.h"
#include "estimator/training/warm_start/warm_start_settings.h"

namespace estimator {

// Where the variables in memory are, relative to the newest checkpoint of model_dir.
enum class MemoryState {
  kOther,         // they have other values, or none: the checkpoint must be read
  kAtCheckpoint,  // they have the checkpoint's values
  // Training continued from the checkpoint, or from first values if there is none, and writes no
  // checkpoints: what it learned is only in memory.
  kAhead,
};

// Not thread-safe.
class ModelState {
 public:
  VariableStore& store() { return store_; }
  const VariableStore& store() const { return store_; }
  // The checkpoint whose values the store has; empty if none.
  const std::string& checkpoint() const { return checkpoint_; }
  void set_checkpoint(std::string prefix) {
    checkpoint_ = origin_ = std::move(prefix);
    changed_ = false;
  }
  // Tells that steps have run since the checkpoint.
  void MarkChanged() {
    checkpoint_.clear();
    changed_ = true;
  }
  // Whether no checkpoints are written, so that the values here are the only ones.
  void set_only_in_memory(bool only_in_memory) { only_in_memory_ = only_in_memory; }
  // `newest`: the newest checkpoint of model_dir; "" if there is none.
  MemoryState RelativeTo(const std::string& newest) const {
    if (only_in_memory_ && changed_ && origin_ == newest) return MemoryState::kAhead;
    return !newest.empty() && checkpoint_ == newest ? MemoryState::kAtCheckpoint
                                                    : MemoryState::kOther;
  }

  // Reads every variable of `graph` that is not local from the checkpoint, by the scaffold's
  // restore_names and partial_restore. Values are read straight into the store.
  // Errors: NOT_FOUND or INVALID_ARGUMENT with one table of all variables that are missing or have
  // another shape or dtype; the store is then unchanged. DATA_LOSS for a corrupt file; the values
  // in the store are then undefined. Those of LoadCheckpointInitializers, for variables that
  // partial_restore allows to be absent.
  absl::Status Restore(const Graph& graph, const std::string& prefix, const Scaffold& scaffold);
  // Checks that a checkpoint is of the model of `graph`: it must have the trainable variables, by
  // the scaffold's rules as above. Slots and counters may differ, because nothing will train.
  // Errors: NOT_FOUND or INVALID_ARGUMENT with a table as above; those of opening the checkpoint.
  static absl::Status CheckIsOfModel(const Graph& graph, const std::string& prefix,
                                     const Scaffold& scaffold);
  // Sets all variables to their first values. These come from `warm_start`, else from
  // InitFromCheckpoint, else from the initializers, which run for the remaining variables only.
  // Then calls scaffold.init_fn.
  // Errors: those of WarmStart, LoadCheckpointInitializers and init_fn.
  absl::Status InitializeFresh(const Graph& graph, const Scaffold& scaffold,
                               const std::optional<WarmStartSettings>& warm_start);
  // Copies the values of `graph`'s variables from `other`, by the scaffold's rules as above.
  // Errors: NOT_FOUND or INVALID_ARGUMENT for a variable that `other` lacks, or has with another
  // shape or dtype; nothing is copied then.
  absl::Status CopyFrom(const Graph& graph, const ModelState& other, const Scaffold& scaffold);

  // 0 if there is no global_step yet.
  int64_t global_step() const;

 private:
  absl::Status RestoreCountedStep(const BundleReader& reader, const Graph& graph);
  // Sets the variables `absent` to their first values: those of InitFromCheckpoint, else those of
  // the initializers. `origin` is for the warning that names them.
  absl::Status InitializeAbsent(const Graph& graph, const std::vector<std::string>& absent,
                                const std::string& origin);

  VariableStore store_;
  std::string checkpoint_;
  std::string origin_;  // the newest checkpoint that was restored or saved
  bool changed_ = false;
  bool only_in_memory_ = false;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_MODEL_STATE_H_
