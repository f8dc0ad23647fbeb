// The compiler's intermediate representation of a step. Passes rewrite it in place; the user's
// Graph does not change. Internal to runtime.
//
// Invariant between passes: nodes are topologically sorted (a node's inputs have smaller indices).
#ifndef ESTIMATOR_RUNTIME_IR_H_
#define ESTIMATOR_RUNTIME_IR_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/array/attrs.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/kernels/kernel.h"

namespace estimator::ir {

inline constexpr char kWhileOp[] = "While";

// Output number `output` of node number `node`.
struct Value {
  int node = -1;
  int output = 0;
  friend auto operator<=>(const Value&, const Value&) = default;
};

// Element `index` of a list. Numbers of nodes and of outputs are ints, where -1 means none, and
// this function converts them.
template <typename List>
decltype(auto) At(List& list, int64_t index) {
  return list[static_cast<size_t>(index)];
}
// The element that belongs to `value` in a list with an inner list for each node.
template <typename Lists>
decltype(auto) At(Lists& lists, Value value) {
  return At(At(lists, value.node), value.output);
}

// The ops that a fused node replaces, in order. --check_kernels runs them and compares the results.
struct Origin {
  struct Step {
    std::string op;
    std::string name;
    Attrs attrs;
    // node >= 0: output `output` of step `node`; node = -1: input `output` of the fused node.
    std::vector<Value> inputs;
    std::vector<TensorSpec> outputs;
  };
  std::vector<Step> steps;
  std::vector<Value> outputs;  // one per output of the fused node
};

struct Node {
  enum class Kind { kOp, kConstant, kFeed, kVariable };
  Kind kind = Kind::kOp;
  std::string op = {};
  std::string name = {};  // of the user's node that it comes from; for messages
  Attrs attrs = {};
  std::vector<Value> inputs = {};
  std::vector<TensorSpec> outputs = {};
  bool stateful = false;                      // a stateful node is neither merged nor folded
  Array constant = {};                        // the value of a kConstant
  int index = -1;                             // of a kFeed or kVariable in the module's list
  std::shared_ptr<const Origin> origin = {};  // of a fused node; null if it is not known
  // The tiers that SelectKernels may take begin here. A pass sets it where only they pay.
  KernelTier slowest = KernelTier::kReference;
  std::shared_ptr<Kernel> kernel = {};  // null before SelectKernels
  // passes/derive_values.h. derived: runs only when variables have changed. kept: a derived node
  // whose outputs are kept between steps.
  bool derived = false;
  bool kept = false;
  // The bodies of a While, an If or a Case, as in Node::functions of the graph. Each has its inputs
  // as feeds and its results as fetches; it reads no variable and has no update.
  std::vector<std::shared_ptr<struct Module>> functions = {};
  std::vector<Value> copies = {};  // kept derived values that it writes too (passes/write_copies.h)
};

struct Variable {
  std::string name;
  TensorSpec spec;
};

// Variable number `variable` takes the value `value` at the end of the step.
struct Update {
  int variable = 0;
  Value value;
  std::string name;
};

struct Module {
  std::vector<Node> nodes;
  std::vector<std::string> feed_names;
  std::vector<TensorSpec> feeds;
  std::vector<Variable> variables;
  std::vector<Value> fetches;
  std::vector<uint64_t> fetch_groups;  // ProgramSpec::fetch_groups; empty: all 0
  std::vector<Update> updates;
  ConvAlgorithm conv_algorithm = ConvAlgorithm::kAuto;  // for SpecOf, as the next one
  DType compute_dtype = DType::kFloat32;
  // Of a function: the feeds before this one are its parameters, the others its captures.
  int num_parameters = 0;
  bool repeats = false;  // the body or the condition of a loop: its captures stay the same
  int num_carried = 0;   // of a body: fetch i < num_carried is the value of feed i at the next trip
  int num_fused_nodes = 0;  // the number of nodes that fused nodes have replaced

  int num_nodes() const { return static_cast<int>(nodes.size()); }
  // Adds a node at the end, and returns its output 0.
  Value Add(Node node) {
    nodes.push_back(std::move(node));
    return {static_cast<int>(nodes.size()) - 1, 0};
  }
  const Node& node(int n) const { return At(nodes, n); }
  Node& node(int n) { return At(nodes, n); }
  // The node that computes `value`.
  const Node& node(Value value) const { return node(value.node); }
  Node& node(Value value) { return node(value.node); }
  const TensorSpec& spec(Value value) const { return At(node(value).outputs, value.output); }
  // Null if the value is not a constant.
  const Array* constant(Value value) const;
};

// Whether the value is a list: the stacked results of a loop whose largest number of trips is not
// known. Its first dimension is Shape::kUnknownDim. Only a loop reads it.
inline bool IsList(const TensorSpec& spec) { return !spec.shape.fully_known(); }
// The spec of a row. REQUIRES: the rank is at least 1.
inline TensorSpec RowOf(const TensorSpec& spec) { return {spec.dtype, spec.shape.Row()}; }

// A view has the bytes of its input and another shape. It does not run.
bool IsView(const Node& node);
// The value that `value` is a view of; `value` itself if it is not a view.
Value Root(const Module& module, Value value);

// A constant node that holds `value`. The caller adds it to a module.
Node MakeConstant(Array value, std::string name);
// A Reshape of `input` to `spec`, which has the same number of elements.
Node MakeReshape(Value input, const TensorSpec& spec, std::string name);

// The input of a While, an If or a Case that is the first capture of its function number `f`.
int FirstCapture(const Node& node, size_t f);

// The spec from which the kernel of `node` is built: its attributes, shapes and constant inputs.
KernelSpec SpecOf(const Module& module, const Node& node);

// The attributes of a Cast, which rounds to nearest.
Attrs CastAttrs(DType from, DType to);

// Appends the ops of `node` to the steps of `origin`, and returns the node's outputs among them.
// The ops of a fused node are those that it has replaced.
//   inputs: for each input of the node the step that computes it, as in Origin::Step::inputs.
std::vector<Value> AppendSteps(const Node& node, const std::vector<Value>& inputs, Origin& origin);
// {-1, 0}, {-1, 1}, ...: the inputs of a node, as the inputs of the only step of its origin.
std::vector<Value> OwnInputs(const Node& node, int first = 0);

// For each node, the nodes that read it. A node that reads it twice is listed twice. Each fetch and
// each update is listed as -1.
std::vector<std::vector<int>> Readers(const Module& module);

// The nodes of `from` and those that they depend on, without what `enter` refuses. The order of a
// set is a topological one.
std::set<int> NodesBelow(const Module& module, const std::vector<Value>& from,
                         const std::function<bool(Value)>& enter);

// Replaces each use of output o of node n by to[n][o] where that is set (node >= 0). Follows chains
// of replacements.
using Replacements = std::vector<std::vector<Value>>;
void ReplaceUses(Module& module, const Replacements& to);
// The same for the inputs of one node.
void ReplaceInputs(Node& node, const Replacements& to);

// Removes nodes that no fetch and no update needs, and restores the topological order. Of nodes
// that could come next, the one with the smallest index does. REQUIRES: there is no cycle.
//   after: of some nodes, the node that they follow; their own index does not count.
void Compact(Module& module, const std::map<int, int>& after = {});

// One line for each node, for logs and tests.
std::string ToString(const Module& module);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_IR_H_
