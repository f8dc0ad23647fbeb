// Graph: a static data-flow graph with TensorFlow's ops, names and attributes.
#ifndef ESTIMATOR_GRAPH_GRAPH_H_
#define ESTIMATOR_GRAPH_GRAPH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/array/attrs.h"
#include "estimator/graph/indexed_slices.h"
#include "estimator/graph/node.h"
#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"

namespace estimator {

// A value that a model wants shown; written by the training loop. See ops/summary.h.
struct SummaryRequest {
  enum class Kind { kScalar, kHistogram, kImage };
  Kind kind = Kind::kScalar;
  std::string tag;
  Tensor value;
  int max_outputs = 3;  // images of a batch
};

// TensorFlow's DEFAULT_GRAPH_SEED: stands in for a graph seed where none is set.
inline constexpr int64_t kDefaultGraphSeed = 87654321;

// Built by one thread. Not copyable; handles point into it.
class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // The graph that ops without a tensor argument build into (constants, variables):
  // the innermost GraphScope of this thread. REQUIRES: there is one.
  static Graph& Current();
  static bool HasCurrent();

  // Adds a node under the current name scope, inferring its outputs. `name` is the last part of
  // its name and is made unique (`Relu`, `Relu_1`); empty: the op's name. On an error of shapes,
  // an unknown op, or an invalid input, keeps the first error and returns null.
  Node* AddNode(absl::string_view op, std::vector<Tensor> inputs, Attrs attrs = {},
                absl::string_view name = "", std::vector<Operation> control_inputs = {});
  // The common case of one output.
  Tensor AddOp(absl::string_view op, std::vector<Tensor> inputs, Attrs attrs = {},
               absl::string_view name = "");

  // The first error, or OK. `Train` and its like return it.
  const absl::Status& status() const { return status_; }
  // Keeps `status` if it is the first error; adds the current scope. Returns an invalid handle.
  Tensor Fail(absl::Status status);

  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  Node* FindNode(absl::string_view name) const;  // null if absent
  // "name" or "name:0". Invalid if absent.
  Tensor FindTensor(absl::string_view name);

  // Names. TensorFlow's rule: the first use is the plain name, later ones get _1, _2, ...;
  // case-insensitively unique; a name that ends in '/' is taken as it is.
  std::string UniqueName(absl::string_view name);
  const std::string& name_scope() const { return name_scope_; }  // "" or "a/b/"

  // Seeds, as tf.set_random_seed: op_seed is TensorFlow's (graph seed, op seed) rule.
  void set_seed(std::optional<int64_t> seed) { seed_ = seed; }
  std::optional<int64_t> seed() const { return seed_; }
  // The (seed, seed2) attributes of a random op: under a graph seed, an op without a seed of its
  // own takes the number of such ops before it. Without any seed, where TensorFlow draws one, they
  // follow from the node's position, so that a run is the same every time.
  std::pair<int64_t, int64_t> OpSeeds(std::optional<int64_t> op_seed);

  // Variables, in creation order. Local ones (metrics) are not saved.
  const std::vector<Variable>& variables() const { return variables_; }
  VariableScopeState& variable_scope() { return variable_scope_; }
  std::vector<Variable> TrainableVariables() const;
  std::optional<Variable> FindVariable(absl::string_view name) const;
  std::optional<Variable> GlobalStep() const { return FindVariable("global_step"); }
  // What InitializedValue() returned, and for which variable.
  const std::vector<std::pair<Tensor, Variable>>& initialized_values() const {
    return initialized_values_;
  }

  // Collections, as tf.GraphKeys.
  std::vector<Operation>& update_ops() { return update_ops_; }  // run with every training step
  const std::vector<Operation>& update_ops() const { return update_ops_; }
  std::vector<Tensor>& losses() { return losses_; }
  std::vector<Tensor>& regularization_losses() { return regularization_losses_; }
  std::vector<SummaryRequest>& summaries() { return summaries_; }
  const std::vector<SummaryRequest>& summaries() const { return summaries_; }

  // What KeepSlices() noted: see indexed_slices.h.
  std::map<Tensor, std::vector<IndexedSlices>>& slices() { return slices_; }

  // What Gradients() built, and so whatever it returned: on replicas, each one's own gradient.
  std::set<const Node*>& gradient_nodes() { return gradient_nodes_; }
  const std::set<const Node*>& gradient_nodes() const { return gradient_nodes_; }

 private:
  friend class GraphScope;
  friend class NameScope;
  friend class VariableScope;
  friend class AbsoluteNameScope;
  friend Variable GetVariable(absl::string_view, const Shape&, const VariableOptions&);
  friend Tensor InitializedValue(const Variable&);

  std::vector<std::unique_ptr<Node>> nodes_;
  std::map<std::string, Node*, std::less<>> nodes_by_name_;
  std::map<std::string, int> names_in_use_;  // lower case -> next suffix
  std::string name_scope_;
  absl::Status status_;
  std::optional<int64_t> seed_;
  int64_t num_unseeded_ops_ = 0;  // that took a number from OpSeeds
  std::vector<Variable> variables_;
  std::vector<std::pair<Tensor, Variable>> initialized_values_;
  VariableScopeState variable_scope_;
  std::vector<Operation> update_ops_;
  std::vector<Tensor> losses_;
  std::vector<Tensor> regularization_losses_;
  std::vector<SummaryRequest> summaries_;
  std::map<Tensor, std::vector<IndexedSlices>> slices_;
  std::set<const Node*> gradient_nodes_;
};

// The graph that an op with these inputs is built into: that of the first input that has one,
// else the current graph.
Graph& GraphFor(const std::vector<Tensor>& inputs);
// GraphFor(inputs).AddOp(...): what op functions call.
Tensor AddOp(absl::string_view op, std::vector<Tensor> inputs, Attrs attrs = {},
             absl::string_view name = "");
// All outputs of a node with several; `num_outputs` invalid handles after an error.
std::vector<Tensor> AddOpN(absl::string_view op, int num_outputs, std::vector<Tensor> inputs,
                           Attrs attrs = {}, absl::string_view name = "");

// While it lives, `graph` is this thread's current graph.
class GraphScope {
 public:
  explicit GraphScope(Graph& graph);
  ~GraphScope();
  GraphScope(const GraphScope&) = delete;
  GraphScope& operator=(const GraphScope&) = delete;

 private:
  Graph* const previous_;
};

// tf.name_scope: names of ops built while it lives begin with `name/`, made unique.
class NameScope {
 public:
  explicit NameScope(absl::string_view name, Graph& graph = Graph::Current());
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
