// Graph: a static data-flow graph with TensorFlow's ops, names and attributes.
#ifndef ESTIMATOR_GRAPH_GRAPH_H_
#define ESTIMATOR_GRAPH_GRAPH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/array/attrs.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/indexed_slices.h"
#include "estimator/graph/node.h"
#include "estimator/graph/op_registry.h"
#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"

namespace estimator {

// A value that a model asks to be written to the summaries. The training loop writes it; see
// ops/summary.h.
struct SummaryRequest {
  enum class Kind { kScalar, kHistogram, kImage };
  Kind kind = Kind::kScalar;
  std::string tag;
  Tensor value;
  int max_outputs = 3;  // the number of images of a batch that are written
};

// TensorFlow's DEFAULT_GRAPH_SEED: the graph seed if none is set.
inline constexpr int64_t kDefaultGraphSeed = 87654321;

// One thread builds a graph. It is not copyable, because handles point into it.
class Graph {
 public:
  Graph();
  // The body of a function (function.h). `outer` must outlive it.
  explicit Graph(Graph* outer);
  // Gives what stands in a body for a tensor of its forward graph.
  using Resolver = std::function<Tensor(const Tensor& forward)>;
  // The body of a gradient's function: it also reads tensors of `forward`, a body that another
  // node runs, for which `resolve` finds something in this graph or in `outer`.
  Graph(Graph* outer, Graph* forward, Resolver resolve);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // The graph of the innermost GraphScope of this thread. Ops without a tensor argument (constants,
  // variables) are added to it. REQUIRES: there is one.
  static Graph& Current();
  static bool HasCurrent();

  // Adds a node under the current name scope and infers the specs of its outputs.
  //   name: the last part of the node's name, made unique (`Relu`, `Relu_1`); empty: the op's name.
  // Returns null if shapes do not fit, the op is unknown or an input is invalid; the graph keeps
  // the first such error.
  // An input may belong to a graph outside this one: see Inside.
  Node* AddNode(StringArg op, std::vector<Tensor> inputs, Attrs attrs = {}, StringArg name = "",
                std::vector<Operation> control_inputs = {},
                std::vector<std::shared_ptr<Function>> functions = {});
  // The same for an op with one output.
  Tensor AddOp(StringArg op, std::vector<Tensor> inputs, Attrs attrs = {}, StringArg name = "");
  Tensor AddConst(const Array& value, StringArg name = "");

  // Null unless this graph is the body of a function.
  Graph* outer() const { return outer_; }
  // The outermost graph, which has the variables and their scopes.
  Graph& root() { return outer_ == nullptr ? *this : outer_->root(); }
  const Graph& root() const { return outer_ == nullptr ? *this : outer_->root(); }
  // Whether an op of this graph may read a tensor of `graph`, which is not this one.
  bool IsInside(const Graph& graph) const;
  // What stands in this graph for a tensor of this or an outer graph: the tensor itself, a copy of
  // a constant that is not floating, or a placeholder, one for each tensor, which captures it.
  // Errors (kept by the graph): INVALID_ARGUMENT if the tensor belongs to another graph.
  Tensor Inside(const Tensor& tensor);
  // The tensors of outer() that have a placeholder here, and these placeholders.
  const std::vector<Tensor>& captures() const { return captures_; }
  const std::vector<Tensor>& captured() const { return captured_; }
  // Makes a While also return, stacked, what `results` are at each trip. They are tensors of its
  // body. Returns the new outputs of the node. Source: TF 2.15 while_v2, which adds accumulators to
  // a loop when it builds the gradient.
  std::vector<Tensor> AddStackedResults(Node& loop, const std::vector<Tensor>& results);

  // The first error, or OK. The training loop returns it from Train, Evaluate and Predict.
  const absl::Status& status() const { return status_; }
  // Keeps `status` if it is the first error; adds the current scope. Returns an invalid handle.
  Tensor Fail(absl::Status status);

  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  // Makes all nodes read `to` in place of `from`, for each pair, except those that a `to` depends
  // on. Moves nodes so that inputs come before the nodes that read them. Returns how many inputs
  // changed. Tensors stay valid; ids of nodes change. REQUIRES: the specs of a pair are equal.
  int ReplaceInputs(const std::vector<std::pair<Tensor, Tensor>>& from_to);
  Node* FindNode(StringArg name) const;  // null if absent
  // "name" or "name:0". Invalid if absent.
  Tensor FindTensor(StringArg name);

  // Makes a name unique by TensorFlow's rule: the first use is the plain name, later ones get _1,
  // _2, .... Names that differ only in case count as equal. Of a name that ends in '/', only
  // the '/' is removed.
  std::string UniqueName(StringArg name);
  const std::string& name_scope() const { return name_scope_; }  // "" or "a/b/"

  // The graph seed, as tf.set_random_seed sets it.
  void set_seed(std::optional<int64_t> seed) { seed_ = seed; }
  std::optional<int64_t> seed() const { return root().seed_; }
  // The (seed, seed2) attributes of a random op, by TensorFlow's rule for graph seed and op seed.
  // With a graph seed, an op without its own seed takes the number of such ops before it. With no
  // seed at all TensorFlow draws one; here the seeds follow from the node's position, so that every
  // run is the same.
  // The ops of a body are counted with those of its root.
  std::pair<int64_t, int64_t> OpSeeds(std::optional<int64_t> op_seed);

  // Variables, in creation order. Local ones (metrics) are not saved in checkpoints.
  const std::vector<Variable>& variables() const { return root().variables_; }
  VariableScopeState& variable_scope() { return root().variable_scope_; }
  std::vector<Variable> TrainableVariables() const;
  // What a model computes with: all variables but local ones, global_step, and those that only
  // training has (training_variables). Unlike TrainableVariables, it has the moving averages of
  // batch normalization. Pass it to GetAssignmentMapFromCheckpoint to fine-tune a network.
  std::vector<Variable> ModelVariables() const;
  std::optional<Variable> FindVariable(StringArg name) const;
  std::optional<Variable> GlobalStep() const { return FindVariable("global_step"); }
  // What InitializedValue() returned, each with its variable.
  const std::vector<std::pair<Tensor, Variable>>& initialized_values() const {
    return initialized_values_;
  }

  // Collections, as tf.GraphKeys.
  // Those of a branch's body are moved out of it by Cond.
  std::vector<Operation>& update_ops() { return update_ops_; }  // run with every training step
  const std::vector<Operation>& update_ops() const { return update_ops_; }
  // An Assign or AssignAdd in the body of a function. A step updates variables at its end, so the
  // new value is a result of the body, and the update is made outside.
  struct BodyUpdate {
    Operation operation;  // a NoOp of the body
    Variable variable;
    Tensor value;  // the new one, in the body
  };
  std::vector<BodyUpdate>& body_updates() { return body_updates_; }
  std::vector<Tensor>& losses() { return losses_; }
  std::vector<Tensor>& regularization_losses() { return regularization_losses_; }
  std::vector<SummaryRequest>& summaries() { return summaries_; }
  const std::vector<SummaryRequest>& summaries() const { return summaries_; }

  // Names of variables that belong to the training of a model: optimizers' slots and counters, and
  // averages of variables.
  std::set<std::string>& training_variables() { return root().training_variables_; }
  const std::set<std::string>& training_variables() const { return root().training_variables_; }
  // The rates that optimizers apply, f32 [], each once. Empty in an imported graph.
  std::vector<Tensor>& learning_rates() { return learning_rates_; }

  // The slices of each gradient, as KeepSlices() noted them: see indexed_slices.h.
  std::map<Tensor, std::vector<IndexedSlices>>& slices() { return slices_; }

  // All nodes that Gradients() built, and so all that it returned. On replicas, each replica
  // computes its own gradients.
  std::set<const Node*>& gradient_nodes() { return gradient_nodes_; }
  const std::set<const Node*>& gradient_nodes() const { return gradient_nodes_; }

  // Gradients of single nodes, which Gradients() uses in place of those of their ops: see
  // ops/custom_gradient.h. Source: TF 2.15 tf.Graph.gradient_override_map.
  std::map<const Node*, GradientFn>& gradient_overrides() { return gradient_overrides_; }

 private:
  friend class GraphScope;
  friend class NameScope;
  friend class VariableScope;
  friend class AbsoluteNameScope;
  friend Variable GetVariable(StringArg, const Shape&, const VariableOptions&);
  friend Tensor InitializedValue(const Variable&);

  Graph* const outer_ = nullptr;
  Graph* const forward_ = nullptr;
  const Resolver resolve_ = nullptr;
  std::vector<Tensor> captures_, captured_;
  // What Inside returned for a tensor of outer_, and for one of forward_.
  std::map<Tensor, Tensor> inside_, resolved_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::map<std::string, Node*, std::less<>> nodes_by_name_;
  std::map<std::string, int> names_in_use_;  // lower-case name -> next suffix
  std::string name_scope_;
  absl::Status status_;
  std::optional<int64_t> seed_;
  int64_t num_unseeded_ops_ = 0;  // random ops that took their number in OpSeeds
  std::vector<Variable> variables_;
  std::vector<std::pair<Tensor, Variable>> initialized_values_;
  VariableScopeState variable_scope_;
  std::vector<Operation> update_ops_;
  std::vector<BodyUpdate> body_updates_;
  std::vector<Tensor> losses_;
  std::vector<Tensor> regularization_losses_;
  std::vector<SummaryRequest> summaries_;
  std::set<std::string> training_variables_;
  std::vector<Tensor> learning_rates_;
  std::map<Tensor, std::vector<IndexedSlices>> slices_;
  std::set<const Node*> gradient_nodes_;
  std::map<const Node*, GradientFn> gradient_overrides_;
};

// The graph that an op with these inputs is added to: that of the first input that has one, else
// the current graph. In the body of a function: the innermost of those graphs and the current one.
Graph& GraphFor(const std::vector<Tensor>& inputs);
// GraphFor(inputs).AddOp(...). Op functions call this.
Tensor AddOp(StringArg op, std::vector<Tensor> inputs, Attrs attrs = {}, StringArg name = "");
// All outputs of a node with several outputs. After an error: `num_outputs` invalid handles.
std::vector<Tensor> AddOpN(StringArg op, int num_outputs, std::vector<Tensor> inputs,
                           Attrs attrs = {}, StringArg name = "");

// Makes `graph` the current graph of this thread while the scope exists.
class GraphScope {
 public:
  explicit GraphScope(Graph& graph);
  ~GraphScope();
  GraphScope(const GraphScope&) = delete;
  GraphScope& operator=(const GraphScope&) = delete;

 private:
  Graph* const previous_;
};

// tf.name_scope: while the scope exists, names of new ops begin with `name/`, made unique.
class NameScope {
 public:
  explicit NameScope(StringArg name, Graph& graph = Graph::Current());
  ~NameScope();
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;
  const std::string& prefix() const { return prefix_; }  // "a/b/"

 private:
  Graph& graph_;
  std::string prefix_;
  const std::string previous_;
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_GRAPH_H_
