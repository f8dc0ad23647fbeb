// The rules for importing TensorFlow's ops: those of the rows of estimator/op_def, and those for
// ops that have another name here or become several ops.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_OP_RULES_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_OP_RULES_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/attrs.h"
#include "estimator/graph/graph.h"

namespace estimator {

namespace proto {
class NodeDef;
}  // namespace proto

// A node to import, whose inputs are imported already.
struct ImportNode {
  Graph& graph;
  const std::string& name;
  std::vector<Tensor> inputs;
  Attrs attrs;          // the rule's attributes, with defaults filled in
  int num_outputs = 0;  // used outputs, of an op with as many outputs as inputs
};
using ImportOutputs = absl::StatusOr<std::vector<Tensor>>;
// Builds the ops that replace the node and returns its outputs, in TensorFlow's order. The graph
// keeps errors of shapes; the status reports inputs that do not fit the op.
using ImportFn = ImportOutputs (*)(const ImportNode&);

struct ImportRule {
  // Our op, which takes the same inputs. Empty: `convert` builds the replacement.
  absl::string_view op;
  // The attributes to read, in the form of OpDef::attrs. Those that follow from a node are not
  // read.
  absl::string_view attrs;
  ImportFn convert = nullptr;
  int num_inputs = -1;  // the number of inputs that `convert` takes; -1: any number
};
using ImportRules = std::map<absl::string_view, ImportRule>;  // by TensorFlow's name of the op

// The rule of an op that becomes ops of ours: that of a model, or of a gradient. Returns null if
// the op cannot be imported.
const ImportRule* FindImportRule(absl::string_view op);

// Reads the attributes that the rule names. A missing field has TensorFlow's default.
//   problem: set to a short text if an attribute of the node is not supported.
Attrs ReadAttrs(const ImportRule& rule, const proto::NodeDef& node,
                std::optional<std::string>& problem);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_OP_RULES_H_
