#include "estimator/runtime/neutral_module.h"

#include "estimator/base/status.h"
#include "estimator/runtime/lower.h"
#include "estimator/runtime/passes/fold_constants.h"
#include "estimator/runtime/passes/merge_equal.h"
#include "estimator/runtime/passes/prune.h"
#include "estimator/runtime/passes/simplify.h"

namespace estimator::ir {

namespace {

// A capture whose value is a constant becomes a constant of the body, because kernels read the
// values of their constants.
void MakeCapturesConstant(const Module& module, const Node& node) {
  for (size_t f = 0; f < node.functions.size(); ++f) {
    if (node.functions[f] == nullptr) continue;
    Module& body = *node.functions[f];
    const int first = FirstCapture(node, f) - body.num_parameters;
    for (Node& feed : body.nodes) {
      if (feed.kind != Node::Kind::kFeed || feed.index < body.num_parameters) continue;
      const Array* const value = module.constant(At(node.inputs, first + feed.index));
      if (value != nullptr) feed = MakeConstant(*value, feed.name);
    }
  }
}

void PruneAll(Module& module) {
  Prune(module);
  for (const Node& node : module.nodes) {
    for (const auto& body : node.functions) {
      if (body != nullptr) PruneAll(*body);
    }
  }
}

absl::Status SimplifyAll(Module& module, const NeutralOptions& options) {
  EST_RETURN_IF_ERROR(FoldConstants(module));
  if (options.merge_equal) MergeEqual(module);
  Simplify(module, options.single_replica);
  for (const Node& node : module.nodes) {
    MakeCapturesConstant(module, node);
    for (const auto& body : node.functions) {
      if (body != nullptr) EST_RETURN_IF_ERROR(SimplifyAll(*body, options));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Module> BuildNeutralModule(const Graph& graph, const ProgramSpec& spec,
                                          const NeutralOptions& options) {
  EST_ASSIGN_OR_RETURN(Module module, Lower(graph, spec));
  PruneAll(module);
  // Simplifying can make more nodes constant or equal, so the passes run twice.
  for (int round = 0; round < 2; ++round) EST_RETURN_IF_ERROR(SimplifyAll(module, options));
  PruneAll(module);
  return module;
}

}  // namespace estimator::ir
