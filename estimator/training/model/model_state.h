// ModelState: a model's variables in memory, and which checkpoint they are in step with.
#ifndef ESTIMATOR_TRAINING_MODEL_MODEL_STATE_H_
#define ESTIMATOR_TRAINING_MODEL_MODEL_STATE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/variable_store.h"
#include "estimator/training/model/scaffold.h"
#include "estimator/training/warm_start/warm_start_settings.h"

namespace estimator {

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
  // Values change without a checkpoint: a step has run.
  void MarkChanged() {
    checkpoint_.clear();
    changed_ = true;
  }
  // No checkpoints are written: the values here are the only ones.
  void set_only_in_memory(bool only_in_memory) { only_in_memory_ = only_in_memory; }
  // Whether training has gone on from `newest` (the newest checkpoint in model_dir; "" if there is
  // none) and what it learnt is only here.
  bool AheadOf(const std::string& newest) const {
    return only_in_memory_ && changed_ && origin_ == newest;
  }

  // Gives every variable of `graph` that is not local its value from the checkpoint, read straight
  // into the store, by the scaffold's restore_names and partial_restore. Errors: NOT_FOUND or
  // INVALID_ARGUMENT with one table of all that is missing or of another shape or dtype; the store
  // is then as it was. DATA_LOSS for a corrupt file; the store's values then do not count. As
  // LoadCheckpointInitializers, for what partial_restore lets be absent.
  absl::Status Restore(const Graph& graph, const std::string& prefix, const Scaffold& scaffold);
  // First values, in place of any that are here: those of `warm_start`, else of InitFromCheckpoint,
  // else of the initializers, which do not run for the others; then scaffold.init_fn.
  // Errors: those of WarmStart, LoadCheckpointInitializers and init_fn.
  absl::Status InitializeFresh(const Graph& graph, const Scaffold& scaffold,
                               const std::optional<WarmStartSettings>& warm_start);
  // The same values as `other`, for the variables of `graph`, by the scaffold's rules as above.
  // Errors: NOT_FOUND or INVALID_ARGUMENT for a variable that `other` does not have so; nothing is
  // copied then.
  absl::Status CopyFrom(const Graph& graph, const ModelState& other, const Scaffold& scaffold);

  // 0 where there is no global_step yet.
  int64_t global_step() const;

 private:
  // First values of the variables that partial_restore lets be absent: those of InitFromCheckpoint,
  // else of the initializers.
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
