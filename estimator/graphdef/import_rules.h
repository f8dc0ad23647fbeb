// Which of TensorFlow's ops can be imported, and how.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_RULES_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_RULES_H_

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

// A node whose inputs are imported already.
struct ImportNode {
  Graph& graph;
  const std::string& name;
  std::vector<Tensor> inputs;
  Attrs attrs;          // those of the rule, defaults filled in
  int num_outputs = 0;  // that are used, for ops that have as many as inputs
};
// Builds what stands for the node and gives its outputs, in TensorFlow's order. Shape errors go to
// the graph; the status is for inputs that do not fit the op.
using ImportFn = absl::StatusOr<std::vector<Tensor>> (*)(const ImportNode&);

struct ImportRule {
  // The op of ours; the inputs are the same. Empty: `convert` builds it.
  absl::string_view op;
  // Words NAME:KIND, NAME:KIND=DEFAULT, or NAME:KIND=ONLY! where only that value is supported.
  // KIND: b(ool), i(nt), f(loat), s(tring), t(ype), l(ist of ints), p (shape).
  absl::string_view attrs;
  ImportFn convert = nullptr;
  int num_inputs = -1;  // that `convert` takes; -1: any number
};
// Null for an op that cannot be imported.
const ImportRule* FindImportRule(absl::string_view op);

// The attributes of a node that the rule names. Fields that are missing have TensorFlow's defaults.
// `problem`: what of the node's attributes is not supported, if anything, as a short text.
Attrs ReadAttrs(const ImportRule& rule, const proto::NodeDef& node,
                std::optional<std::string>& problem);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_RULES_H_
