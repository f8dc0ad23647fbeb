// Lower: converts the user's graph to the compiler's module.
#ifndef ESTIMATOR_RUNTIME_LOWER_H_
#define ESTIMATOR_RUNTIME_LOWER_H_

#include "absl/status/statusor.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/backend.h"
#include "estimator/runtime/ir.h"

namespace estimator::ir {

// Takes the nodes that the fetches and updates of `spec` need. Any tensor may be fed; then the node
// that computes it is not needed. Several AssignAdds of one variable are added up.
// Errors: graph.status(), if it is an error; INVALID_ARGUMENT for an invalid handle or one of
// another graph; for placeholders that are needed but not fed (naming all); if a variable is
// assigned twice (it would be undefined which value it gets); UNIMPLEMENTED for a sum over replicas
// in the body of a loop or a branch.
absl::StatusOr<Module> Lower(const Graph& graph, const ProgramSpec& spec);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_LOWER_H_
