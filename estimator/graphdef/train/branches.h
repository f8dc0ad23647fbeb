// tf.cond in its old form: which branch of which condition a node of a training graph belongs to.
//
// A Switch sends its input to one of two outputs, and a Merge takes the input that arrived. Both
// branches are computed here, and a Merge selects.
#ifndef ESTIMATOR_GRAPHDEF_TRAIN_BRANCHES_H_
#define ESTIMATOR_GRAPHDEF_TRAIN_BRANCHES_H_

#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/graphdef/train/nodes.h"

namespace estimator {

class TrainBranches {
 public:
  // sorted: as in TrainOrder. Errors: INVALID_ARGUMENT if conditions are nested too deeply.
  static absl::StatusOr<TrainBranches> Create(const TrainNodes& nodes,
                                              const std::vector<int>& sorted);

  struct Choice {
    FlatTensor predicate;
    size_t if_true = 0, if_false = 0;  // numbers of the Merge's inputs
  };
  // What a Merge selects; null if its inputs are not the two sides of one condition.
  const Choice* ChoiceOf(int merge) const;
  // Whether TensorFlow runs the node only if some condition holds.
  bool IsConditional(int node) const;

 private:
  // The side of each condition: 0 false, 1 true.
  using Context = std::map<FlatTensor, int>;
  explicit TrainBranches(const TrainNodes& nodes) : nodes_(&nodes) {}
  FlatTensor Source(FlatTensor predicate) const;
  Context ContextOf(FlatTensor tensor) const;
  Context Merged(int merge);

  const TrainNodes* nodes_;
  std::map<int, Context> contexts_;  // only those that are not empty
  std::map<int, Choice> choices_;
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_TRAIN_BRANCHES_H_
