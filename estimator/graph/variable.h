// Variables: named state that lives across steps, with TensorFlow's names and scopes.
//
// State is functional. A step reads every variable as it was when the step began. An update is a
// pair (variable, new value), and all updates take effect together when the step ends.
#ifndef ESTIMATOR_GRAPH_VARIABLE_H_
#define ESTIMATOR_GRAPH_VARIABLE_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "estimator/array/shape.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// Builds the initial value of a variable in the current graph.
using Initializer = std::function<Tensor(const Shape& shape, DType dtype)>;
// Builds a penalty on a variable, a scalar.
using Regularizer = std::function<Tensor(const Tensor& variable)>;

// A cheap handle. Its graph nodes are TensorFlow's: `w` (VariableV2), `w/read` (Identity),
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
  // Local variables are neither saved nor restored: the totals of metrics.
  bool local() const { return local_; }
  Graph* graph() const { return graph_; }
  Node* node() const { return node_; }

  // The value at the start of the step, in dtype(). Inside tpu::Bfloat16Scope it may be the value
  // cast to bf16.
  Tensor read() const { return read_; }
  operator Tensor() const { return read_; }  // NOLINT: a variable reads as its value
  // The initializer's value, before any checkpoint is restored. See InitializedValue() below.
  Tensor initial_value() const { return initial_value_; }

 private:
  friend class Graph;
  friend Variable GetVariable(StringArg, const Shape&, const struct VariableOptions&);
  Graph* graph_ = nullptr;
  Node* node_ = nullptr;
  Tensor read_;
  Tensor initial_value_;
  bool trainable_ = false;
  bool local_ = false;
};

struct VariableOptions {
  DType dtype = DType::kFloat32;
  // Default: the scope's initializer. If the scope has none: glorot_uniform for floating dtypes and
  // zeros for integers, as in TensorFlow.
  Initializer initializer = nullptr;
  // Default: the scope's regularizer. Its value is added to graph.regularization_losses().
  Regularizer regularizer = nullptr;
  bool trainable = true;
  bool local = false;
};

// tf.get_variable: creates `<scope>/name`, or returns the existing variable if the scope reuses.
// Errors (kept by the graph): INVALID_ARGUMENT if it exists and reuse is off; if it does not exist
// and reuse is on (naming the nearest name); if shape or dtype differ from the existing variable's.
// Source: TF 2.15 tf.compat.v1.get_variable.
Variable GetVariable(StringArg name, const Shape& shape, const VariableOptions& options = {});

// The int64 scalar `global_step`. Creates it with the value zero if it does not exist.
Variable GetOrCreateGlobalStep();

// A value for the initializer of another variable: the value of `variable` after it is restored
// from a checkpoint, or its initial value if no checkpoint has it. An initializer that reads
// initial_value() instead does not see the checkpoint, and a random tensor is drawn again.
// Source: TF 2.15 tf.compat.v1.Variable.initialized_value.
Tensor InitializedValue(const Variable& variable);

// Whether GetVariable returns variables that exist.
//   kInherit, kFalse  as the scope outside; at the root: a variable that exists is an error
//   kTrue             only variables that exist; another one is an error
//   kAuto             variables that exist; others are created (tf.AUTO_REUSE)
enum class Reuse { kInherit, kFalse, kTrue, kAuto };

struct VariableScopeOptions {
  Reuse reuse = Reuse::kInherit;
  Initializer initializer = nullptr;
  Regularizer regularizer = nullptr;
  bool auxiliary_name_scope = true;  // false: names of ops do not change
  // true: a variable that is asked for in bf16 is f32 and reads as its value cast to bf16
  // (tpu::Bfloat16Scope). false: as the scope outside.
  bool bfloat16_reads_float32 = false;
};

struct VariableScopeSettings {
  // That of ops when the scope was opened: "" or "a/b_1/". A NameScope of it names ops as the scope
  // did.
  std::string original_name_scope;
  Reuse reuse = Reuse::kFalse;
  Initializer initializer = nullptr;
  Regularizer regularizer = nullptr;
  bool bfloat16_reads_float32 = false;
};

struct VariableScopeState : VariableScopeSettings {
  std::string prefix;  // "" or "a/b/"
  // How many times each scope was opened, for default names (dense, dense_1). When a scope closes,
  // the counts of the scopes in it are reset, so that reusing it gives the same names again.
  std::map<std::string, int> open_counts;
};

// A variable scope that can be opened again, from any scope.
struct CapturedVariableScope : VariableScopeSettings {
  std::string name;  // "a/b"; "" for the root
};

// The innermost variable scope of the current graph, or its root.
// Source: TF 2.15 tf.compat.v1.get_variable_scope.
CapturedVariableScope GetVariableScope();

// Sets Reuse::kTrue until the innermost variable scope closes. At the root: for the whole graph.
// Source: TF 2.15 tf.compat.v1.get_variable_scope().reuse_variables().
void ReuseVariables();

// tf.variable_scope: while it exists, names of variables begin with `name/` (never made unique),
// and names of ops with a fresh name scope.
class VariableScope {
 public:
  // Opens `name` inside the current scope. "" at the root adds nothing to the names of variables.
  explicit VariableScope(StringArg name, VariableScopeOptions options = {});
  // Opens a scope again, whatever the current scope is. Options that are not set are those of
  // `scope`. Two layers that share their weights, at the root or elsewhere:
  //   const Tensor a = layers::Dense(x, {.units = 10, .name = "tower"});
  //   const VariableScope shared(GetVariableScope(), {.reuse = Reuse::kTrue});
  //   const Tensor b = layers::Dense(y, {.units = 10, .name = "tower"});
  // Default names (dense, dense_1) count on inside from where they are. When the scope closes, the
  // counts are those from before it.
  explicit VariableScope(const CapturedVariableScope& scope, VariableScopeOptions options = {});
  // tf.variable_scope(None, default_name): `default_name`, made unique among the variable scopes
  // (dense, dense_1, ...).
  static std::string UniqueDefaultName(StringArg default_name);
  ~VariableScope();
  VariableScope(const VariableScope&) = delete;
  VariableScope& operator=(const VariableScope&) = delete;
  const std::string& prefix() const { return prefix_; }

 private:
  void Open(absl::string_view last_name, const VariableScopeOptions& options);

  Graph& graph_;
  std::string prefix_;
  const std::string previous_name_scope_;
  const VariableScopeState previous_;  // open_counts only if counts_are_restored_
  const bool counts_are_restored_;
};

// Sets `variable` to `value` when the step ends. It runs only as part of a train_op, of
// graph.update_ops() or of a metric. Errors: INVALID_ARGUMENT if dtype or shape differ.
Operation Assign(const Variable& variable, const Tensor& value, StringArg name = "");
Operation AssignAdd(const Variable& variable, const Tensor& delta, StringArg name = "");
// tf.group. Invalid operations are skipped.
Operation Group(absl::Span<const Operation> operations, StringArg name = "group_deps");
// All Assign nodes that the operations run, each once, in node order.
std::vector<Node*> CollectAssigns(absl::Span<const Operation> operations);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_VARIABLE_H_
