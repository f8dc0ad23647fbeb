// Variables: named state that lives across steps, with TensorFlow's names and scopes.
//
// State is functional. A step reads every variable as it stood when the step began; an update
// is a pair (variable, new value), and all updates take effect together at the step's end.
#ifndef ESTIMATOR_GRAPH_VARIABLE_H_
#define ESTIMATOR_GRAPH_VARIABLE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "estimator/array/shape.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// Builds the first value of a variable in the current graph.
using Initializer = std::function<Tensor(const Shape& shape, DType dtype)>;
// A penalty on a variable: a scalar.
using Regularizer = std::function<Tensor(const Tensor& variable)>;

// A cheap handle. Graph nodes, as TensorFlow's: `w` (VariableV2), `w/read` (Identity),
// `w/Initializer/...` and `w/Assign`.
class Variable {
 public:
  Variable() = default;
  bool valid() const { return node_ != nullptr; }
  const std::string& name() const;  // "conv2d/kernel", no ":0"
  const TensorSpec& spec() const;
  const Shape& shape() const { return spec().shape; }
  DType dtype() const { return spec().dtype; }
  bool trainable() const { return trainable_; }
  // Not saved and not restored: metrics' totals.
  bool local() const { return local_; }
  Graph* graph() const { return graph_; }
  Node* node() const { return node_; }

  // Its value at the start of the step.
  Tensor read() const { return read_; }
  operator Tensor() const { return read_; }  // NOLINT: a variable reads as its value
  // The first value, before any checkpoint is restored. See InitializedValue() below.
  Tensor initial_value() const { return initial_value_; }

 private:
  friend class Graph;
  friend Variable GetVariable(absl::string_view, const Shape&, const struct VariableOptions&);
  Graph* graph_ = nullptr;
  Node* node_ = nullptr;
  Tensor read_;
  Tensor initial_value_;
  bool trainable_ = false;
  bool local_ = false;
};

struct VariableOptions {
  DType dtype = DType::kFloat32;
  // None: the scope's, and without one glorot_uniform for floats and zeros for integers, as in
  // TensorFlow.
  Initializer initializer = nullptr;
  Regularizer regularizer =
      nullptr;  // None: the scope's. Its value joins graph.regularization_losses()
  bool trainable = true;
  bool local = false;
};

// tf.get_variable: creates `<scope>/name`, or returns it where the scope says reuse.
// Errors (kept by the graph): INVALID_ARGUMENT if it exists and reuse is off, if it does not
// exist and reuse is on (naming the nearest), or if shape or dtype differ from the existing one.
// Source: TF 2.15 tf.compat.v1.get_variable.
Variable GetVariable(absl::string_view name, const Shape& shape,
                     const VariableOptions& options = {});

// The int64 scalar `global_step`, created at zero where it does not exist.
Variable GetOrCreateGlobalStep();

// For the first value of another variable: the value that `variable` has by then (a checkpoint's),
// if it has one, else its initial value. A variable that begins at initial_value() itself does not
// follow a checkpoint: a random tensor is then drawn anew.
// Source: TF 2.15 tf.compat.v1.Variable.initialized_value.
Tensor InitializedValue(const Variable& variable);

enum class Reuse { kInherit, kFalse, kTrue, kAuto };

struct VariableScopeOptions {
  Reuse reuse = Reuse::kInherit;
  Initializer initializer = nullptr;
  Regularizer regularizer = nullptr;
};

struct VariableScopeState {
  std::string prefix;  // "" or "a/b/"
  Reuse reuse = Reuse::kFalse;
  Initializer initializer = nullptr;
  Regularizer regularizer = nullptr;
  // How often each scope was opened, for default names (dense, dense_1); those inside a scope
  // start anew when it closes, so that a second, reusing entry gives the same names.
  std::map<std::string, int> open_counts;
};

// tf.variable_scope(name): prefixes variable names with `name/` (never made unique) and op names
// with a fresh name scope.
class VariableScope {
 public:
  explicit VariableScope(absl::string_view name, VariableScopeOptions options = {});
  // tf.variable_scope(None, default_name): `default_name` made unique among variable scopes
  // (dense, dense_1, ...).
  static std::string UniqueDefaultName(absl::string_view default_name);
  ~VariableScope();
  VariableScope(const VariableScope&) = delete;
  VariableScope& operator=(const VariableScope&) = delete;
  const std::string& prefix() const { return prefix_; }

 private:
  Graph& graph_;
  std::string prefix_;
  const std::string previous_name_scope_;
  const std::string previous_prefix_;
  const Reuse previous_reuse_;
  const Initializer previous_initializer_;
  const Regularizer previous_regularizer_;
};

// At the end of the step `variable` becomes `value`. Not run unless it is part of a train_op, of
// graph.update_ops() or of a metric. Errors: INVALID_ARGUMENT if dtype or shape differ.
Operation Assign(const Variable& variable, const Tensor& value, absl::string_view name = "");
Operation AssignAdd(const Variable& variable, const Tensor& delta, absl::string_view name = "");
// tf.group. Null operations are skipped.
Operation Group(absl::Span<const Operation> operations, absl::string_view name = "group_deps");
// All Assign nodes that `operation` runs, each once, in node order.
std::vector<Node*> CollectAssigns(absl::Span<const Operation> operations);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_VARIABLE_H_
