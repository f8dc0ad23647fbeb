// How a graph says that a variable's first value comes from a checkpoint: as TensorFlow's
// init_from_checkpoint does, by nodes `Assign(variable, Restore(prefix, name))`, which take the
// place of the variable's initializer. The last one of a variable counts.
#ifndef ESTIMATOR_TRAINING_WARM_START_CHECKPOINT_INITIALIZER_H_
#define ESTIMATOR_TRAINING_WARM_START_CHECKPOINT_INITIALIZER_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/variable_store.h"

namespace estimator {

// `variable` is to begin at the value called `stored_name` in the checkpoint `prefix`.
void AddCheckpointInitializer(const Variable& variable, absl::string_view prefix,
                              absl::string_view stored_name);

// Loads these variables of `graph`, all but those in `done`, into the store, whose other variables
// stay as they are, and returns their names. Every checkpoint is opened once, every value read
// straight into its storage. Errors: of the checkpoint, as CheckRestorable and
// BundleReader::ReadInto.
absl::StatusOr<std::set<std::string>> LoadCheckpointInitializers(const Graph& graph,
                                                                 const std::set<std::string>& done,
                                                                 VariableStore& store);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_WARM_START_CHECKPOINT_INITIALIZER_H_
