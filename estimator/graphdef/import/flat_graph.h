// FlatGraph: the nodes of a GraphDef, with the functions that they call inlined.
//
// A name is resolved when its node is needed: "node:1" in the graph, "node:output_arg:0" in the
// body of a function. The arguments of a function are the caller's tensors, and the outputs of a
// call are tensors of the function's body: an import of one output needs only the nodes behind it.
// The node of the call itself (kCallOp) has no inputs. It runs after the whole body, and what reads
// an output of the call has it as a control input, because TensorFlow runs a function as a whole.
// An If becomes a kSelectBranchOp, whose inputs are the condition, the results of then_branch and
// those of else_branch. So does a Case, whose inputs are the index and the results of each
// function.
// The body and the condition of a While are functions of their own, whose nodes are inside of it
// (FlatNode::loop). An argument that the body returns unchanged is the caller's tensor; any other
// is a node (kLoopArgOp). The inputs of the While are its operands, then the result of the
// condition, then those of the body (FlatLoop). Loops of TensorFlow 1 become the same, when all
// nodes are added (frames/frame_converter.h).
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_FLAT_GRAPH_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_FLAT_GRAPH_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/graphdef/parsed_feature.h"

namespace estimator {

namespace proto {
class FunctionDef;
class GraphDef;
class NodeDef;
}  // namespace proto

inline constexpr char kCallOp[] = "_Call";
inline constexpr char kSelectBranchOp[] = "_SelectBranch";
inline constexpr char kLoopOp[] = "_Loop";
inline constexpr char kLoopArgOp[] = "_LoopArg";

// One output of a node of a FlatGraph.
struct FlatTensor {
  int node = -1;
  int output = 0;
  friend auto operator<=>(const FlatTensor&, const FlatTensor&) = default;
};

struct FlatNode {
  std::string name;  // unique; for a node of a function "StatefulPartitionedCall/dense/MatMul"
  const proto::NodeDef* def = nullptr;
  absl::string_view op;  // that of `def`, or one of those above
  int branch = -1;       // the innermost If or Case that runs the node in one of its branches
  int side = 0;          // which one: 1 then, 0 else; of a Case the number of the function
  int loop = -1;         // the innermost loop that runs the node
  std::string problem;   // why it cannot be imported, if the op does not tell
  // Set by Resolve and AddAll.
  bool resolved = false;
  std::vector<FlatTensor> inputs;
  std::vector<int> controls;
  // For a node that stands for a feature of Examples, whose only input are the serialized ones.
  std::unique_ptr<const ParsedFeature> parsed_feature;
};

// The variables of a loop. Its node has 2 * size + 1 inputs: the first values, whether it goes on,
// and the next values.
struct FlatLoop {
  // The node of each variable in the condition and in the body; -1 if nothing reads it, or if it
  // does not change.
  std::vector<int> cond_args, body_args;
  std::vector<bool> constant;  // whether the variable does not change
};

// Refers to the GraphDef, which must outlive it. Not thread-safe until AddAll has succeeded;
// nothing changes after that.
class FlatGraph {
 public:
  // Errors: INVALID_ARGUMENT if two nodes or two functions have the same name.
  static absl::StatusOr<std::unique_ptr<FlatGraph>> Create(const proto::GraphDef& graph_def);
  ~FlatGraph();
  FlatGraph(const FlatGraph&) = delete;
  FlatGraph& operator=(const FlatGraph&) = delete;

  // Adds every node of the graph and of the functions that it calls, in the order of the GraphDef.
  absl::Status AddAll();
  // Finds what `roots` need: the nodes behind their inputs, and with `controls` also those behind
  // their control inputs. Errors: INVALID_ARGUMENT naming a node and an input that does not exist.
  absl::Status Resolve(const std::vector<int>& roots, bool controls);

  // The nodes that were needed so far, in the order of the requests.
  int size() const { return static_cast<int>(nodes_.size()); }
  const FlatNode& node(int i) const { return nodes_[static_cast<size_t>(i)]; }
  absl::string_view op(int i) const { return node(i).op; }
  // REQUIRES: node i is a kLoopOp, and resolved.
  FlatLoop loop(int i) const;
  // REQUIRES: node i is a kSelectBranchOp.
  int NumBranches(int i) const;
  // "'dense/MatMul' (MatMul)"
  std::string Where(int i) const;

  // The tensor called "node" or "node:1" in the graph.
  // Errors: INVALID_ARGUMENT naming the nearest node.
  absl::StatusOr<FlatTensor> Find(absl::string_view name);
  // The node that has run when the op of the graph has run that is called so, or that has an output
  // called so. Errors: as Find.
  absl::StatusOr<int> FindOp(absl::string_view name);
  // The tensor that Identity nodes pass on as `at`. REQUIRES: they are resolved.
  FlatTensor BehindIdentities(FlatTensor at) const;
  // The names of the graph's placeholders, for messages: "'x', 'y' and 3 more", or "none".
  // Placeholders in functions are not listed.
  std::string Placeholders() const;

  // The caller has a value for the tensor, so that nothing needs the node that computes it. Later
  // calls of Resolve, Sorted and Reached end there.
  void Give(FlatTensor at) { given_.insert(at); }
  bool IsGiven(FlatTensor at) const { return given_.count(at) > 0; }

  // The nodes that `roots` need, each after its inputs; with `controls` also the control inputs and
  // after them. Errors: INVALID_ARGUMENT if a node depends on itself. REQUIRES: they are resolved.
  absl::StatusOr<std::vector<int>> Sorted(const std::vector<int>& roots, bool controls) const;
  // The same set in no order, also for graphs with loops.
  std::vector<int> Reached(const std::vector<int>& roots, bool controls) const;

 private:
  struct Scope;  // functions/function_scope.h
  using NodeIndex = std::map<absl::string_view, int>;
  using Functions = std::vector<const proto::FunctionDef*>;
  explicit FlatGraph(const proto::GraphDef& graph_def);
  Functions FunctionsOf(const proto::NodeDef& node) const;
  absl::StatusOr<FlatTensor> ResolveIn(Scope& scope, absl::string_view name, int depth,
                                       std::vector<int>* calls);
  absl::StatusOr<FlatTensor> OutputOf(Scope& scope, int index, absl::string_view output, int depth,
                                      std::vector<int>* calls);
  absl::StatusOr<FlatTensor> ResultOf(Scope& called, int number, int depth,
                                      std::vector<int>* calls);
  absl::StatusOr<FlatTensor> InSameBranch(Scope& scope, FlatTensor at, int depth,
                                          std::vector<int>* calls);
  absl::StatusOr<Scope*> Call(Scope& scope, int index, const Functions& functions, size_t k);
  absl::StatusOr<int> NodeIn(Scope& scope, int index);
  absl::StatusOr<int> LoopArg(Scope& scope, int arg);
  absl::Status AddAllOf(Scope& scope);
  absl::Status AddControls(Scope& scope, int index, std::vector<int>& controls);
  absl::Status AddLoop(Scope& scope, int index, const Functions& functions, size_t num_inputs);
  absl::Status Connect(int node);
  absl::Status Connect(Scope& scope, int index, std::vector<FlatTensor>& inputs,
                       std::vector<int>& controls);

  const proto::GraphDef& graph_def_;
  std::map<absl::string_view, const proto::FunctionDef*> functions_;
  std::map<const proto::FunctionDef*, NodeIndex> indexes_;  // null: the index of the graph
  std::vector<std::unique_ptr<Scope>> scopes_;              // the first is the graph's
  std::vector<FlatNode> nodes_;
  // The NodeDef of each of nodes_; for an argument of a loop -1.
  std::vector<std::pair<Scope*, int>> places_;
  std::map<int, std::pair<const Scope*, const Scope*>> loops_;  // the condition and the body
  std::map<int, FlatLoop> frame_loops_;                         // those of TensorFlow 1
  bool has_frames_ = false;
  bool has_all_ = false;
  bool in_optional_ = false;  // while the giver of an Optional is looked for
  std::set<FlatTensor> given_;
  size_t num_edges_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_FLAT_GRAPH_H_
