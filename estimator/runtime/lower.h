// Lower: from the user's graph to the compiler's module.
#ifndef ESTIMATOR_RUNTIME_LOWER_H_
#define ESTIMATOR_RUNTIME_LOWER_H_

#include "absl/status/statusor.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/backend.h"
#include "estimator/runtime/ir.h"

namespace estimator::ir {

// What the fetches and updates of `spec` need. Any tensor may be fed; its node is then cut off.
// Several AssignAdds of one variable add up.
// Errors: graph.status(), if it is an error; INVALID_ARGUMENT for an invalid or foreign handle,
// naming every placeholder that is needed but not fed, and where a variable is assigned twice
// (which of the two would count is not defined).
absl::StatusOr<Module> Lower(const Graph& graph, const ProgramSpec& spec);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_LOWER_H_
