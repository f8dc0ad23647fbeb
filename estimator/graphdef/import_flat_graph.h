// FlatGraph: a GraphDef with its functions inlined, as far as a caller asks for their nodes.
//
// A name is resolved when its node is needed: "node:1" in a graph, "node:output_arg:0" in the body
// of a function. The arguments of a function are the caller's tensors. A call (PartitionedCall) has
// no node of its own: its outputs are those of the function's body.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_FLAT_GRAPH_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_FLAT_GRAPH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

namespace proto {
class FunctionDef;
class GraphDef;
class NodeDef;
}  // namespace proto

// One output of a node of a FlatGraph.
struct FlatTensor {
  int node = -1;
  int output = 0;
  friend auto operator<=>(const FlatTensor&, const FlatTensor&) = default;
};

struct FlatNode {
  std::string name;  // unique; for a node of a function "StatefulPartitionedCall/dense/MatMul"
  const proto::NodeDef* def = nullptr;
  std::vector<FlatTensor> inputs;  // set by Resolve
  bool resolved = false;
};

// Refers to the GraphDef, which must outlive it. Not thread-safe.
class FlatGraph {
 public:
  // Errors: INVALID_ARGUMENT if two nodes or two functions have the same name.
  static absl::StatusOr<std::unique_ptr<FlatGraph>> Create(const proto::GraphDef& graph_def);
  ~FlatGraph();
  FlatGraph(const FlatGraph&) = delete;
  FlatGraph& operator=(const FlatGraph&) = delete;

  // The nodes that were needed so far, in the order of the requests.
  const std::vector<FlatNode>& nodes() const { return nodes_; }
  const FlatNode& node(int i) const { return nodes_[static_cast<size_t>(i)]; }

  // The tensor called "node" or "node:1" in the graph.
  // Errors: INVALID_ARGUMENT naming the nearest node.
  absl::StatusOr<FlatTensor> Find(absl::string_view name);
  // The names of the graph's placeholders, for messages: "'x', 'y' and 3 more", or "none".
  // Placeholders in functions are not listed.
  std::string Placeholders() const;
  // Sets the inputs of a node. Errors: INVALID_ARGUMENT naming the node and the input.
  absl::Status Resolve(int node);
  // All nodes that run when `op` runs: the nodes that it depends on, through inputs and control
  // inputs, and the bodies of all functions that are called there.
  absl::StatusOr<std::vector<int>> AllThatRuns(absl::string_view op);

 private:
  struct Scope;
  using NodeIndex = std::map<absl::string_view, int>;
  explicit FlatGraph(const proto::GraphDef& graph_def);
  absl::StatusOr<FlatTensor> ResolveIn(Scope& scope, absl::string_view name, int depth);
  absl::StatusOr<FlatTensor> OutputOf(Scope& scope, int index, absl::string_view output, int depth);
  absl::StatusOr<Scope*> Call(Scope& scope, int index, const proto::FunctionDef& function);
  absl::StatusOr<int> NodeIn(Scope& scope, int index);
  const proto::FunctionDef* CalledFunction(const proto::NodeDef& node) const;

  const proto::GraphDef& graph_def_;
  std::map<absl::string_view, const proto::FunctionDef*> functions_;
  std::map<const proto::FunctionDef*, NodeIndex> indexes_;  // null: the index of the graph
  std::vector<std::unique_ptr<Scope>> scopes_;              // the first is the graph's
  std::vector<FlatNode> nodes_;
  std::vector<std::pair<Scope*, int>> places_;  // the NodeDef of each of nodes_
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_FLAT_GRAPH_H_
