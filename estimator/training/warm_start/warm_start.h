// Warm start: loads the values that WarmStartSettings describes from its checkpoint.
#ifndef ESTIMATOR_TRAINING_WARM_START_WARM_START_H_
#define ESTIMATOR_TRAINING_WARM_START_WARM_START_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/variable_store.h"
#include "estimator/training/warm_start/warm_start_settings.h"

namespace estimator {

// Loads the variables of `graph` that `settings` chooses into the store, and returns their names.
// Other variables of the store do not change.
// REQUIRES: ValidateWarmStart returned OK.
// Errors: those of the checkpoint and the vocabularies; NOT_FOUND or INVALID_ARGUMENT with one
// table of all variables that the checkpoint does not have, or has with another shape or dtype;
// INVALID_ARGUMENT for names in a map that are not warm-started, listing those that are. After an
// error the values of the chosen variables in the store are undefined.
// Source: TF 2.15 tf.compat.v1.train.warm_start.
absl::StatusOr<std::set<std::string>> WarmStart(const WarmStartSettings& settings,
                                                const Graph& graph, VariableStore& store);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_WARM_START_WARM_START_H_
