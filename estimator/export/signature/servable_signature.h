// ServableSignature: the interface from which a Predictor gets the graph of its signature. The
// graph comes from a model_fn or from a SavedModel.
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

// The graph of a signature for inputs of one set of shapes.
struct SignatureGraph {
  std::unique_ptr<Graph> graph;
  std::map<std::string, Tensor> inputs;  // placeholders, by the signature's names
  std::map<std::string, Tensor> outputs;
  // These parse inputs that are serialized Examples on the host.
  std::vector<ImportedParser> parsers;
  std::vector<ImportedVariable> variables;  // only of a SavedModel
};

// Thread-safe.
class ServableSignature {
 public:
  virtual ~ServableSignature() = default;
  virtual const std::string& name() const = 0;  // "serving_default"
  virtual const SavedSignature& signature() const = 0;
  // Returns the graph for inputs of these shapes, which must match the signature. Inputs that the
  // outputs do not need may be missing. Does not call the user's code and reads no files, because
  // serving threads call it.
  // Errors: those of shapes that the model does not accept.
  virtual absl::StatusOr<SignatureGraph> GraphFor(const InputShapes& shapes) const = 0;
  // Reads the variables of `graph` that are not yet in `store`.
  virtual absl::Status LoadVariables(const SignatureGraph& /*graph*/,
                                     VariableStore& /*store*/) const {
    return absl::OkStatus();
  }
  // Returns shapes to compile the signature for, the likeliest first. Empty if only a request can
  // determine the shapes.
  virtual std::vector<InputShapes> SampleShapes() const = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SIGNATURE_SERVABLE_SIGNATURE_H_
