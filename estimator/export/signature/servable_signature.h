// ServableSignature: where a Predictor gets the graph of its signature from: a model_fn's, or a
// SavedModel's.
#ifndef ESTIMATOR_EXPORT_SIGNATURE_SERVABLE_SIGNATURE_H_
#define ESTIMATOR_EXPORT_SIGNATURE_SERVABLE_SIGNATURE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/export/signature/saved_signature.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/import_graph_def.h"
#include "estimator/runtime/variable_store.h"

namespace estimator {

// The shapes of a request's inputs, by the signature's names.
using InputShapes = std::map<std::string, Shape>;

// A signature as a graph, for inputs of one set of shapes.
struct SignatureGraph {
  std::unique_ptr<Graph> graph;
  std::map<std::string, Tensor> inputs;  // placeholders, by the signature's names
  std::map<std::string, Tensor> outputs;
  // Inputs that are serialized Examples go through these on the host.
  std::vector<ImportedParser> parsers;
  std::vector<ImportedVariable> variables;  // of a SavedModel
};

// Thread-safe.
class ServableSignature {
 public:
  virtual ~ServableSignature() = default;
  virtual const std::string& name() const = 0;  // "serving_default"
  virtual const SavedSignature& signature() const = 0;
  // The graph for inputs of these shapes, which fit the signature. Inputs that the outputs do not
  // need may be missing. Calls no code of the user's and reads no file: a thread that serves calls
  // it.
  // Errors: what is wrong with the shapes.
  virtual absl::StatusOr<SignatureGraph> GraphFor(const InputShapes& shapes) const = 0;
  // Gives variables of `graph` that `store` lacks their values.
  virtual absl::Status LoadVariables(const SignatureGraph& /*graph*/,
                                     VariableStore& /*store*/) const {
    return absl::OkStatus();
  }
  // Shapes to try the signature with, the likeliest first; none where a request must say them.
  virtual std::vector<InputShapes> SampleShapes() const = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SIGNATURE_SERVABLE_SIGNATURE_H_
