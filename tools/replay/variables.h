// Compares the variables of a model with those of a reference, and sets their initial values.
#ifndef TOOLS_REPLAY_VARIABLES_H_
#define TOOLS_REPLAY_VARIABLES_H_

#include "absl/status/status.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/variable_store.h"
#include "tools/replay/reference.h"

namespace estimator::replay {

// Checks that the model and the reference have the same variables. Local variables (metrics) do not
// count.
// Errors, with one table of all such variables and the nearest names: NOT_FOUND if only one side
// has a variable; else INVALID_ARGUMENT if the types of a variable differ.
absl::Status CheckVariables(const Graph& graph, const Reference& reference);

// Sets variables to their values in the initial checkpoint, or if they are not in it, to those of
// the graph's initializers.
// REQUIRES: CheckVariables returned OK.
absl::Status SetInitialValues(const Graph& graph, const Reference& reference, VariableStore& store);

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_VARIABLES_H_
