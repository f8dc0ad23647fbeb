// Records in a graph that a variable's first value comes from a checkpoint. The record is a node
// `Assign(variable, Restore(prefix, name))`, as in TensorFlow's init_from_checkpoint. It replaces
// the variable's initializer. If a variable has several, the last one counts.
#ifndef ESTIMATOR_TRAINING_WARM_START_CHECKPOINT_INITIALIZER_H_
#define ESTIMATOR_TRAINING_WARM_START_CHECKPOINT_INITIALIZER_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/restore.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/variable_store.h"

namespace estimator {

// Records that `variable` starts at the value `stored_name` of the checkpoint `prefix`.
void AddCheckpointInitializer(const Variable& variable, absl::string_view prefix,
                              absl::string_view stored_name);

// The cures of mismatches, in words of InitFromCheckpoint.
RestoreAdvice CheckpointInitializerAdvice();

// Loads the recorded variables of `graph` into the store, except those in `done`, and returns their
// names. Other variables of the store do not change. Each checkpoint is opened once, and each value
// is read directly into its storage.
//   done_by: what set those in `done`, for a warning if InitFromCheckpoint names them too.
// Errors: as CheckRestorable and BundleReader::ReadInto.
absl::StatusOr<std::set<std::string>> LoadCheckpointInitializers(const Graph& graph,
                                                                 const std::set<std::string>& done,
                                                                 VariableStore& store,
                                                                 absl::string_view done_by = "");

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_WARM_START_CHECKPOINT_INITIALIZER_H_
