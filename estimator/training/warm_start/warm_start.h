// Warm start: the values that WarmStartSettings asks for, from its checkpoint into the variables.
#ifndef ESTIMATOR_TRAINING_WARM_START_WARM_START_H_
#define ESTIMATOR_TRAINING_WARM_START_WARM_START_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/variable_store.h"
#include "estimator/training/warm_start/warm_start_settings.h"

namespace estimator {

// Loads the variables of `graph` that `settings` chooses into the store, whose other variables stay
// as they are, and returns their names. REQUIRES: ValidateWarmStart was OK. Errors: those of the
// checkpoint and the vocabularies; NOT_FOUND or INVALID_ARGUMENT with one table of all variables
// that the checkpoint lacks or has otherwise; INVALID_ARGUMENT for names in a map that are not
// warm-started, with those that are. The store's values of chosen variables then do not count.
// Source: TF 2.15 tf.compat.v1.train.warm_start.
absl::StatusOr<std::set<std::string>> WarmStart(const WarmStartSettings& settings,
                                                const Graph& graph, VariableStore& store);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_WARM_START_WARM_START_H_
