#include "estimator/runtime/neutral_module.h"

#include "estimator/base/status.h"
#include "estimator/runtime/lower.h"
#include "estimator/runtime/passes/fold_constants.h"
#include "estimator/runtime/passes/merge_equal.h"
#include "estimator/runtime/passes/prune.h"
#include "estimator/runtime/passes/simplify.h"

namespace estimator::ir {

absl::StatusOr<Module> BuildNeutralModule(const Graph& graph, const ProgramSpec& spec,
                                          const NeutralOptions& options) {
  EST_ASSIGN_OR_RETURN(Module module, Lower(graph, spec));
  Prune(module);
  // Simplifying can make more nodes constant or equal, so the passes run twice.
  for (int round = 0; round < 2; ++round) {
    EST_RETURN_IF_ERROR(FoldConstants(module));
    if (options.merge_equal) MergeEqual(module);
    Simplify(module, options.single_replica);
  }
  Prune(module);
  return module;
}

}  // namespace estimator::ir
