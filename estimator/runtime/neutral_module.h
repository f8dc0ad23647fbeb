// The neutral half of the compiler: what every target of a step wants. The other passes
// (runtime/program.h) are the CPU's; tpu/stablehlo lowers this module to StableHLO.
//
// Nodes are ops that users can build, plus Const; there are no fused ops, no kernels, no layouts.
#ifndef ESTIMATOR_RUNTIME_NEUTRAL_MODULE_H_
#define ESTIMATOR_RUNTIME_NEUTRAL_MODULE_H_

#include "absl/status/statusor.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/backend.h"
#include "estimator/runtime/ir.h"

namespace estimator::ir {

struct NeutralOptions {
  bool merge_equal = true;
  // The program will only run as one replica, so collectives are removed.
  bool single_replica = false;
};

// Reads the graph, then: prune; twice fold constants, merge equal nodes, simplify; prune. The
// bodies of loops and branches get the same passes.
// Errors: those of Lower and FoldConstants.
absl::StatusOr<Module> BuildNeutralModule(const Graph& graph, const ProgramSpec& spec,
                                          const NeutralOptions& options = {});

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_NEUTRAL_MODULE_H_
