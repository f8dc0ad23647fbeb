// The order in which a graph reads and writes its variables.
//
// A write W of a variable is visible to a node R if a path of data and control dependencies leads
// from W to R. A reference variable is read by the node that uses it: the Identity in between does
// not copy it. A resource variable is read by its ReadVariableOp.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_VARIABLE_ORDER_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_VARIABLE_ORDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/graphdef/import/flat_graph.h"

namespace estimator {

class VariableOrder {
 public:
  // sorted: the nodes of a step, each after its inputs and control inputs. `nodes` must outlive the
  // result. Errors: INVALID_ARGUMENT if the graph has too many writes for this analysis.
  static absl::StatusOr<VariableOrder> Create(const FlatGraph& nodes, std::vector<int> sorted);

  // The node of the variable that `tensor` refers to, or whose handle it is; -1 for a value.
  int VariableOf(FlatTensor tensor) const;
  // The nodes that write the variable, in the order of their effects.
  const std::vector<int>& Writes(int variable) const;
  // The number of writes of `variable` that are visible to `node`. A write sees those before it.
  size_t NumVisible(int variable, int node) const;
  const std::vector<int>& sorted() const { return sorted_; }
  // The index of a node in sorted(); -1 for a node that is not in it.
  int PlaceOf(int node) const { return place_[static_cast<size_t>(node)]; }

  // What the graph leaves undefined: writes of one variable in no order; and reads by `needed`
  // nodes that are ordered neither before nor after a write. One sentence each.
  std::vector<std::string> Undefined(const std::vector<bool>& needed) const;

 private:
  using Word = uint64_t;
  explicit VariableOrder(const FlatGraph& nodes) : nodes_(&nodes) {}
  void FindReferences();
  absl::Status FindPaths();
  bool After(int node, size_t write) const { return Bit(after_, node, write); }
  bool Before(int node, size_t write) const { return Bit(before_, node, write); }
  bool Bit(const std::vector<Word>& bits, int node, size_t write) const;
  void SortWrites();

  const FlatGraph* nodes_;
  std::vector<int> sorted_;
  std::vector<int> place_;  // node -> its index in sorted_, or -1
  std::map<FlatTensor, int> references_;
  std::map<int, std::vector<int>> writes_;  // variable -> nodes
  std::map<int, size_t> write_index_;       // node -> its bit
  size_t num_words_ = 0;
  std::vector<Word> after_;   // for each place, the writes that come before it
  std::vector<Word> before_;  // for each place, the writes that come after it
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_VARIABLE_ORDER_H_
