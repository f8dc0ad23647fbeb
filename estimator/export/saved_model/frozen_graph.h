// A frozen graph: a graph for inference whose variables are constants. It is one file that needs no
// checkpoint.
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_FROZEN_GRAPH_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_FROZEN_GRAPH_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/runtime/variable_store.h"

namespace estimator {

struct ExportGraphDef;

struct FrozenGraph {
  std::string graph_def;  // serialized
  // The names of the nodes to feed and to fetch, keyed by their names in the signature.
  std::map<std::string, std::string> inputs;
  std::map<std::string, std::string> outputs;
};

// Returns the part of `model` that the signature `signature_key` needs. Variables become constants
// with their values in `variables`. Identities, including StopGradient, are removed. There are no
// control inputs and no initializers. Each output has its own node, for readers that find outputs
// by node name.
// Errors: NOT_FOUND naming the existing signatures; FAILED_PRECONDITION naming a variable without a
// value.
absl::StatusOr<FrozenGraph> FreezeGraph(const ExportGraphDef& model, const VariableStore& variables,
                                        const std::string& signature_key);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_FROZEN_GRAPH_H_
