// ModelState: a model's variables in memory, and which checkpoint they are in step with.
#ifndef ESTIMATOR_TRAINING_MODEL_STATE_H_
#define ESTIMATOR_TRAINING_MODEL_STATE_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/variable_store.h"
#include "estimator/training/scaffold.h"

namespace estimator {

// Not thread-safe.
class ModelState {
 public:
  VariableStore& store() { return store_; }
  const VariableStore& store() const { return store_; }
  // The checkpoint whose values the store has; empty if none.
  const std::string& checkpoint() const { return checkpoint_; }
  void set_checkpoint(std::string prefix) { checkpoint_ = std::move(prefix); }
  // Values change without a checkpoint: a step has run.
  void MarkChanged() { checkpoint_.clear(); }

  // Gives every variable of `graph` that is not local its value from the checkpoint.
  // `restore_names` as in Scaffold.
  // Errors: INVALID_ARGUMENT with one table of all that is missing or of another shape or dtype;
  // DATA_LOSS for a corrupt file. The store is then as it was.
  absl::Status Restore(const Graph& graph, const std::string& prefix,
                       const std::map<std::string, std::string>& restore_names = {});
  // First values, then scaffold.init_fn.
  absl::Status InitializeFresh(const Graph& graph, const Scaffold& scaffold);
  // The same values as `other`, for the variables of `graph`.
  absl::Status CopyFrom(const Graph& graph, const ModelState& other);

  // 0 where there is no global_step yet.
  int64_t global_step() const;

 private:
  VariableStore store_;
  std::string checkpoint_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_STATE_H_
