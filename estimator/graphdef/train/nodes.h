// The nodes of a training graph with their control inputs, after functions are inlined.
//
// A call becomes an IdentityN of the function's results. An If becomes a kSelectBranchOp, whose
// inputs are the condition, the results of then_branch and those of else_branch: both branches are
// computed.
#ifndef ESTIMATOR_GRAPHDEF_TRAIN_NODES_H_
#define ESTIMATOR_GRAPHDEF_TRAIN_NODES_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/graphdef/import_flat_graph.h"

namespace estimator {

inline constexpr char kSelectBranchOp[] = "_SelectBranch";

struct TrainNode {
  std::string name;
  const proto::NodeDef* def = nullptr;  // op and attributes
  std::vector<FlatTensor> inputs;
  std::vector<int> controls;
  bool in_branch = false;  // inside a branch of an If
};

// Refers to the GraphDef, which must outlive it.
class TrainNodes {
 public:
  // Errors: INVALID_ARGUMENT if two nodes have one name, if an input does not exist, or if functions
  // call each other too deeply.
  static absl::StatusOr<std::unique_ptr<TrainNodes>> Create(const proto::GraphDef& graph_def);
  ~TrainNodes();
  TrainNodes(const TrainNodes&) = delete;
  TrainNodes& operator=(const TrainNodes&) = delete;

  int size() const { return static_cast<int>(nodes_.size()); }
  const TrainNode& node(int i) const { return nodes_[static_cast<size_t>(i)]; }
  const std::string& op(int i) const;
  // "'dense/MatMul' (MatMul)"
  std::string Where(int i) const;

  // The tensor "node" or "node:1". Errors: INVALID_ARGUMENT naming the nearest node.
  absl::StatusOr<FlatTensor> Find(absl::string_view name) const;
  // -1 if there is no such node.
  int FindNode(absl::string_view name) const;

  // The nodes that `roots` need, each after its inputs; with `controls` also the control inputs and
  // after them. Errors: INVALID_ARGUMENT if a node depends on itself.
  absl::StatusOr<std::vector<int>> Sorted(const std::vector<int>& roots, bool controls) const;
  // The same set in no order, also for graphs with loops.
  std::vector<int> Reached(const std::vector<int>& roots, bool controls) const;

 private:
  TrainNodes() = default;
  absl::Status Connect();

  std::vector<std::unique_ptr<proto::NodeDef>> inlined_;
  std::vector<TrainNode> nodes_;
  std::map<absl::string_view, int> index_;
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_TRAIN_NODES_H_
