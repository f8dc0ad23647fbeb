// Builds the nodes of an imported graph in a Graph of ours, one after the other.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_NODE_BUILDER_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_NODE_BUILDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/import/branches.h"
#include "estimator/graphdef/import/branches/branch_bodies.h"
#include "estimator/graphdef/import/rows/branch_rows.h"
#include "estimator/graphdef/import/rows/where_rows.h"
#include "estimator/graphdef/import/unique_rows.h"
#include "estimator/graphdef/import/variable_order.h"

namespace estimator {

class NodeBuilder {
 public:
  // The value of `variable` that the node `reader` sees.
  using ReadFn = std::function<absl::StatusOr<Tensor>(int variable, int reader)>;
  // Changes a value on its way to a node; used for gradients on replicas.
  using TransferFn = std::function<Tensor(FlatTensor from, int to, const Tensor& value)>;

  struct Options {
    std::string prefix = "";  // "tower/": before the names of the nodes
    int64_t max_constant_bytes = int64_t{1} << 31;
    const UniqueRows* unique_rows = nullptr;  // as FindUniqueRows found them
    const WhereRows* where_rows = nullptr;    // as FindWhereRows found them
    const BranchRows* branch_rows = nullptr;  // as FindBranchRows found them
    const BranchBodies* bodies = nullptr;     // as FindBranchBodies found them; null: no branches
    bool variables_exist = true;              // whether IsVariableInitialized is true
    TransferFn transfer = nullptr;
  };

  NodeBuilder(const FlatGraph& nodes, const VariableOrder& order, const Branches& branches,
              Graph& graph, ReadFn read, Options options)
      : nodes_(nodes),
        order_(order),
        branches_(branches),
        graph_(&graph),
        read_(std::move(read)),
        options_(std::move(options)),
        bodies_(options_.bodies) {}

  // The tensor is given and not computed: an input.
  void Give(FlatTensor at, const Tensor& value) { given_[at] = value; }
  void SetValues(int node, std::vector<Tensor> values) { values_[node] = std::move(values); }
  // Builds a node, whose inputs are built already, or a loop with all its nodes. The first Merge of
  // a branch, or its If or Case, builds the nodes of its bodies, for which Build does nothing.
  // Variables, writes and nodes that parse Examples are the caller's: see SetValues.
  // Errors: INVALID_ARGUMENT naming the node; the graph's first error.
  absl::Status Build(int node);
  // The innermost node that could not be built, outside of loops; -1: none.
  int failed_node() const { return failed_node_; }
  // Whether the node is in a branch whose condition is a constant that does not take it. Build does
  // nothing for it, because its sizes may not fit. REQUIRES: the conditions are built.
  bool IsDead(int node) const;
  // The value of `at` that the node `reader` gets.
  absl::StatusOr<Tensor> Value(FlatTensor at, int reader) const;
  // The values of all inputs of `node`.
  absl::StatusOr<std::vector<Tensor>> Inputs(int node) const;
  // `taken` if `condition` has `side` (Branches::Context), else `other`.
  absl::StatusOr<Tensor> SelectSide(FlatTensor condition, int side, const Tensor& taken,
                                    const Tensor& other, int node);
  // Whether the tensor has a row for each row of a Unique. Those rows are imported with
  // repetitions.
  bool IsOfUnique(FlatTensor at) const { return OriginOf(at.node) >= 0; }
  // The name of a node in the graph that is built.
  std::string NameOf(int node) const { return options_.prefix + nodes_.node(node).name; }

 private:
  absl::Status BuildHere(int node);
  absl::StatusOr<std::vector<Tensor>> Outputs(int node);
  // As Value, but an Optional that is empty gives an invalid handle.
  absl::StatusOr<Tensor> OptionalValue(FlatTensor at, int reader) const;
  absl::StatusOr<std::vector<Tensor>> BuildConst(int node);
  absl::StatusOr<std::vector<Tensor>> BuildUniqueSum(int node);
  absl::StatusOr<std::vector<Tensor>> BuildOp(int node);

  // branches/build_branches.cc
  struct Output;
  absl::StatusOr<Tensor> Selector(FlatTensor condition, int node) const;
  std::optional<int> KnownSide(FlatTensor condition, int reader) const;
  absl::StatusOr<std::vector<Tensor>> BuildBranches(int node);
  absl::StatusOr<std::vector<Tensor>> BuiltByFirst(int node);
  absl::Status BuildBody(int body);
  void ReadSide(size_t side, int node, std::vector<Output>& outputs);
  void AddRows(Output& output, const std::function<Graph&(size_t side)>& graph_of) const;
  void SelectOutput(FlatTensor condition, int node, Output& output);
  absl::Status RunOneSide(const BranchBodies::Group& group, int node, std::vector<Output>& outputs);

  // TensorFlow's TensorList, which is one tensor here: its elements, stacked.
  struct List {
    Tensor rows = {};   // [size, ...]; invalid: zeros
    int64_t size = -1;  // -1: it grows
    DType dtype = DType::kInvalid;
    std::optional<Shape> element = std::nullopt;  // nullopt: not known yet
    Tensor same = {};                             // not invalid: all elements are this tensor
    Tensor index = {}, item = {};                 // valid: `item` in the place of row `index`
    // Not null: the elements are lists as this one, and what they have as `rows` or `same` are the
    // elements of `rows`, or `same`.
    std::shared_ptr<const List> inner = nullptr;

    // Whether nothing was written to it: its elements are zeros.
    bool untouched() const {
      return !rows.valid() && !item.valid() && !same.valid() && inner == nullptr;
    }
    // The list of the rows of a tensor [size, ...].
    static List OfRows(const Tensor& rows) {
      return {
          .rows = rows, .size = rows.dim(0), .dtype = rows.dtype(), .element = rows.shape().Row()};
    }
  };
  class ListBuilder;
  class LoopImporter;
  bool IsList(FlatTensor at) const { return lists_.count(at) > 0; }
  absl::StatusOr<List> ListOf(FlatTensor at) const;
  absl::StatusOr<Tensor> Rows(const List& list, const std::string& name);
  // Elements [n, ...] that are the rows of a tensor [size, n, ...], one behind the other.
  static Tensor JoinedRows(const Tensor& rows);
  absl::StatusOr<std::vector<Tensor>> BuildList(int node);
  absl::StatusOr<std::vector<Tensor>> BuildLoop(int node);
  int OriginOf(int node) const;
  Tensor Const(const Array& value, const std::string& name);
  Tensor Folded(const Tensor& output, const std::string& name);

  const FlatGraph& nodes_;
  const VariableOrder& order_;
  const Branches& branches_;
  Graph* graph_;  // that of the innermost body while its nodes are built
  const ReadFn read_;
  const Options options_;
  const BranchBodies* bodies_;  // null while a loop finds out its trips
  int body_ = -1;               // that is built
  int failed_node_ = -1;
  std::map<FlatTensor, Tensor> given_;
  std::map<int, std::vector<Tensor>> values_;
  std::map<FlatTensor, List> lists_;
  std::map<FlatTensor, absl::Status> unselected_;  // of If, Case and Merge, and why
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_NODE_BUILDER_H_
