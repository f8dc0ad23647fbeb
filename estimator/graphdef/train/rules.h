// What the ops of a training graph do to variables, and which of them can be imported.
#ifndef ESTIMATOR_GRAPHDEF_TRAIN_RULES_H_
#define ESTIMATOR_GRAPHDEF_TRAIN_RULES_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/array/attrs.h"
#include "estimator/graph/tensor.h"

namespace estimator {

namespace proto {
class NodeDef;
}  // namespace proto

// The operands of a write, by TensorFlow's names. Those that are variables have their values from
// before the write.
struct WriteOperands {
  const std::map<absl::string_view, Tensor>& operands;
  const Attrs& attrs;
  // The rows of a Unique are imported with repetitions: an index may occur twice, with equal
  // updates.
  bool repeated_indices = false;

  const Tensor& operator[](absl::string_view name) const { return operands.at(name); }
};
using WriteFormula = std::vector<Tensor> (*)(const WriteOperands&);

// An op that changes variables: Assign, ScatterAdd, ApplyAdam, ResourceApplyAdam.
struct WriteRule {
  // In the op's order, separated by spaces. The first num_states are the variables that it changes.
  absl::string_view operands;
  int num_states = 1;
  absl::string_view attrs = "";  // as ImportRule::attrs
  // The new values of the variables. Null: our op of the same name returns them.
  WriteFormula formula = nullptr;
  absl::string_view op = "";  // the name without `Resource`
  bool by_rows = false;       // `indices` are rows of the variables
};
// Null if the op changes no variable.
const WriteRule* FindWriteRule(absl::string_view op);

// Ops through which a reference to a variable, or its handle, passes.
bool PassesReference(absl::string_view op);
// Ops that read a handle: ReadVariableOp, ResourceGather.
bool ReadsHandle(absl::string_view op);
bool IsTrainInputOp(absl::string_view op);  // IteratorGetNext, QueueDequeueV2
bool IsRandomOp(absl::string_view op);
// Ops that only report something, so that an import may leave them out if nothing reads them.
bool IsReportOp(absl::string_view op);
// Whether the node is named as tf.gradients names its nodes: in a scope `gradients`.
bool IsGradientName(absl::string_view name);

// The reason why a node of a training graph cannot be imported; nullopt if it can.
std::optional<std::string> TrainProblem(const proto::NodeDef& node);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_TRAIN_RULES_H_
