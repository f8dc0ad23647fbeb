// A frozen graph: inference alone, its variables constants, in one file that needs no checkpoint.
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
  // The nodes to feed and to fetch, by the names that the signature gives them.
  std::map<std::string, std::string> inputs;
  std::map<std::string, std::string> outputs;
};

// What the signature `signature_key` of `model` needs: variables as constants with their values,
// identities (StopGradient, too) folded into what reads them, no control inputs, no variables'
// initializers. An output is a node of its own, so that readers that know nodes only find it.
// Errors: NOT_FOUND naming the signatures that there are; FAILED_PRECONDITION naming a variable
// without a value.
absl::StatusOr<FrozenGraph> FreezeGraph(const ExportGraphDef& model, const VariableStore& variables,
                                        const std::string& signature_key);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_FROZEN_GRAPH_H_
