// The variables of a model against those of a reference.
#ifndef TOOLS_REPLAY_VARIABLES_H_
#define TOOLS_REPLAY_VARIABLES_H_

#include "absl/status/status.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/variable_store.h"
#include "tools/replay/reference.h"

namespace estimator::replay {

// Errors: NOT_FOUND if a variable is on one side only, else INVALID_ARGUMENT if one has another
// type: one table of all, with the nearest name. Local variables (metrics) do not count.
absl::Status CheckVariables(const Graph& graph, const Reference& reference);

// Values from the initial checkpoint; for what it lacks, the graph's initializers.
// REQUIRES: CheckVariables was OK.
absl::Status SetInitialValues(const Graph& graph, const Reference& reference, VariableStore& store);

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_VARIABLES_H_
