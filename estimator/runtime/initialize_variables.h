// First values of variables.
#ifndef ESTIMATOR_RUNTIME_INITIALIZE_VARIABLES_H_
#define ESTIMATOR_RUNTIME_INITIALIZE_VARIABLES_H_

#include "absl/status/status.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/variable_store.h"

namespace estimator {

// Computes the initial values of `graph`'s variables that `store` does not hold initialized yet,
// and sets them.
//   only_local: computes the local variables (metric totals), also those that have a value, and no
//   others.
// All values come from one run: two variables that begin at one random tensor begin alike.
// InitializedValue() of a variable that has a value in the store is that value: a moving average
// begins at a restored or warm-started weight.
absl::Status InitializeVariables(const Graph& graph, VariableStore& store, bool only_local = false);

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_INITIALIZE_VARIABLES_H_
