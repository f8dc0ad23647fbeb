// tf.cond: which branch of which condition a node belongs to.
//
// In the old form, a Switch sends its input to one of two outputs, and a Merge takes the input that
// arrived. An If and a Case have functions instead. branches/branch_bodies.h finds what is built in
// a branch of ours. A condition is a bool; of a Case it is {its node, kChosen}, and its sides are
// the functions.
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

  // What a Merge, an If or a Case gives: on side s, output k is input first[s] + k.
  struct Choice {
    FlatTensor condition;
    std::vector<size_t> first;
    size_t num_outputs = 1;  // that are chosen
  };
  // Null if the inputs of a Merge are not the two sides of one condition (it can then only be built
  // if both are one constant), or if the branches of an If or a Case return different numbers of
  // tensors.
  const Choice* ChoiceOf(int node) const;
  // Whether TensorFlow runs the node only if some condition holds.
  bool IsConditional(int node) const;
  // The side of each condition: 0 false, 1 true; of a Case the number of the function; kNever: two
  // sides, as of what is in one side of a tf.cond that is in the other side of an equal one.
  using Context = std::map<FlatTensor, int>;
  static constexpr int kNever = -1;
  // The conditions that must all hold for TensorFlow to run the node.
  const Context& ConditionsOf(int node) const;
  // Whether two of these conditions contradict each other.
  bool NeverRuns(int node) const;
  // The tensor that decides a condition: the bool, or the index of a Case.
  FlatTensor SelectorOf(FlatTensor condition) const {
    return condition.output == kChosen ? nodes_->node(condition.node).inputs[0] : condition;
  }
  // Twice the number of nodes that choose (Merge, If, Case) on the longest path to a node. One that
  // chooses has one more itself, so that none of them depends on another of its stage.
  int StageOf(int node) const { return stages_[static_cast<size_t>(node)]; }

 private:
  explicit Branches(const FlatGraph& nodes)
      : nodes_(&nodes), stages_(static_cast<size_t>(nodes.size()), 0) {}
  FlatTensor ConditionOf(int select) const;
  void AddChoices(int select);
  Context ContextOf(FlatTensor tensor) const;
  Context Merged(int merge);

  const FlatGraph* nodes_;
  std::map<int, Context> contexts_;  // only those that are not empty
  std::map<int, Choice> choices_;
  std::vector<int> stages_;
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_BRANCHES_H_
