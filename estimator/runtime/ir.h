// The compiler's own view of a step: a flat, mutable list of nodes that the passes rewrite, so
// that the user's Graph stays as it is. Internal to runtime.
//
// Invariant between passes: nodes are topologically sorted (a node's inputs have smaller indices).
#ifndef ESTIMATOR_RUNTIME_IR_H_
#define ESTIMATOR_RUNTIME_IR_H_

#include <compare>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/array/attrs.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/kernels/kernel.h"

namespace estimator::ir {

// Output `output` of node `node`.
struct Value {
  int node = -1;
  int output = 0;
  friend auto operator<=>(const Value&, const Value&) = default;
};

// The plain ops that a fused node stands for, in order: what --check_kernels compares it with.
struct Origin {
  struct Step {
    std::string op;
    std::string name;
    Attrs attrs;
    std::vector<Value> inputs;  // node = -1: the fused node's input `output`; else step `node`
    std::vector<TensorSpec> outputs;
  };
  std::vector<Step> steps;
  std::vector<Value> outputs;  // one per output of the fused node
};

struct Node {
  enum class Kind { kOp, kConstant, kFeed, kVariable };
  Kind kind = Kind::kOp;
  std::string op;
  std::string name;  // unique, for people: the user's node that it comes from
  Attrs attrs;
  std::vector<Value> inputs;
  std::vector<TensorSpec> outputs;
  bool stateful = false;                 // never merged, never folded
  Array constant;                        // kConstant
  int index = -1;                        // kFeed, kVariable: which
  std::shared_ptr<const Origin> origin;  // of a fused node, where it is known
  std::shared_ptr<Kernel> kernel;        // null until one is chosen
};

struct Variable {
  std::string name;
  TensorSpec spec;
};

// At the end of the step, `variable` becomes `value`.
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
  std::vector<Update> updates;
  int num_fused_nodes = 0;  // nodes that no longer run on their own

  const Node& node(Value value) const { return nodes[static_cast<size_t>(value.node)]; }
  Node& node(Value value) { return nodes[static_cast<size_t>(value.node)]; }
  const TensorSpec& spec(Value value) const {
    return node(value).outputs[static_cast<size_t>(value.output)];
  }
  // Null unless the value is a constant.
  const Array* constant(Value value) const;
};

// A view gives its input's bytes another shape: it never runs.
bool IsView(const Node& node);
// The value whose bytes `value` shows, through views.
Value Root(const Module& module, Value value);

// A constant that holds `value`, to be added to a module.
Node MakeConstant(Array value, std::string name);
// `input` with another shape of the same size.
Node MakeReshape(Value input, const TensorSpec& spec, std::string name);

// All that is known of `node` when its kernel is built.
KernelSpec SpecOf(const Module& module, const Node& node);

// `node` as a step of a fused node's origin.
Origin::Step StepOf(const Node& node, std::vector<Value> inputs);

// For every node the nodes that read it, each as often as it does; fetches and updates count as a
// reader -1.
std::vector<std::vector<int>> Readers(const Module& module);
// The only node that reads any output of node `n`, or -1 if there are several, or a fetch or an
// update reads it too.
int OnlyReader(const std::vector<std::vector<int>>& readers, int n);

// Points every use of node n's output o to to[n][o], where that is set (node >= 0); chains of
// replacements are followed.
using Replacements = std::vector<std::vector<Value>>;
void ReplaceUses(Module& module, const Replacements& to);

// Drops what no fetch and no update needs, and restores the topological order: by first index
// where there is a choice. REQUIRES: no cycle.
void Compact(Module& module);

// One line per node. For people and tests.
std::string ToString(const Module& module);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_IR_H_
