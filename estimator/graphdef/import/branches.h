// tf.cond: which branch of which condition a node belongs to.
//
// In the old form, a Switch sends its input to one of two outputs, and a Merge takes the input that
// arrived. Both branches are computed here, and a Merge selects. So are those of an If and a Case.
// A condition is a bool; of a Case it is {its node, kChosen}, and its sides are the functions.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_BRANCHES_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_BRANCHES_H_

#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/graphdef/import/flat_graph.h"

namespace estimator {

class Branches {
 public:
  static constexpr int kChosen = -1;
  // sorted: as in VariableOrder. Errors: INVALID_ARGUMENT if conditions are nested too deeply.
  static absl::StatusOr<Branches> Create(const FlatGraph& nodes, const std::vector<int>& sorted);

  struct Choice {
    FlatTensor predicate;
    size_t if_true = 0, if_false = 0;  // numbers of the Merge's inputs
  };
  // What a Merge selects; null if its inputs are not the two sides of one condition.
  const Choice* ChoiceOf(int merge) const;
  // Whether TensorFlow runs the node only if some condition holds.
  bool IsConditional(int node) const;
  // The side of each condition: 0 false, 1 true; of a Case the number of the function.
  using Context = std::map<FlatTensor, int>;
  // The conditions that must all hold for TensorFlow to run the node.
  const Context& ConditionsOf(int node) const;
  // The tensor that decides a condition: the bool, or the index of a Case.
  FlatTensor SelectorOf(FlatTensor condition) const {
    return condition.output == kChosen ? nodes_->node(condition.node).inputs[0] : condition;
  }
  // The condition of a kSelectBranchOp. REQUIRES: it has inputs.
  FlatTensor ConditionOf(int select) const;

 private:
  explicit Branches(const FlatGraph& nodes) : nodes_(&nodes) {}
  Context ContextOf(FlatTensor tensor) const;
  Context Merged(int merge);

  const FlatGraph* nodes_;
  std::map<int, Context> contexts_;  // only those that are not empty
  std::map<int, Choice> choices_;
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_BRANCHES_H_
