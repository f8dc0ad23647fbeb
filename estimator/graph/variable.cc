#include "estimator/graph/variable.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"

namespace estimator {

// While the scope exists, names of nodes begin with exactly `prefix`, in any name scope of the
// caller. The nodes of a variable need this: their names begin with the variable's name.
class AbsoluteNameScope {
 public:
  AbsoluteNameScope(Graph& graph, std::string prefix)
      : graph_(graph), previous_(std::exchange(graph.name_scope_, std::move(prefix))) {}
  ~AbsoluteNameScope() { graph_.name_scope_ = previous_; }

 private:
  Graph& graph_;
  const std::string previous_;
};

namespace {

OutputSpecs VariableShape(const ShapeContext& context) {
  return std::vector<TensorSpec>{{context.attrs.dtype("dtype"), context.attrs.get<Shape>("shape")}};
}

OutputSpecs AssignShape(const ShapeContext& context) {
  if (context.input(0) == context.input(1)) return std::vector<TensorSpec>{};
  return InvalidArgument("variable '", context.inputs[0].node()->name(), "' is ",
                         context.input(0).ToString(), ", its new value is ",
                         context.input(1).ToString());
}

OutputSpecs NoOutputs(const ShapeContext&) { return std::vector<TensorSpec>{}; }

EST_REGISTER_OP("VariableV2", VariableShape);
EST_REGISTER_OP("Assign", AssignShape);
EST_REGISTER_OP("AssignAdd", AssignShape);
EST_REGISTER_OP("NoOp", NoOutputs);

// glorot_uniform: U(-limit, limit) with limit = sqrt(6 / (fan_in + fan_out)), as
// TF 2.15 init_ops.GlorotUniform. Zeros for dtypes that are not floating.
Tensor DefaultInitialValue(Graph& graph, const Shape& shape, DType dtype) {
  const auto constant = [&](double value) {
    return graph.AddConst(Array::Scalar(value).Cast(dtype), "value");
  };
  Array dims(DType::kInt32, Shape{shape.rank()});
  for (int i = 0; i < shape.rank(); ++i)
    dims.data<int32_t>()[i] = static_cast<int32_t>(shape.dim(i));
  const Tensor shape_tensor = graph.AddConst(dims, "shape");
  if (!IsFloating(dtype)) return graph.AddOp("Fill", {shape_tensor, constant(0)}, {}, "zeros");
  double receptive = 1;
  for (int i = 0; i + 2 < shape.rank(); ++i) receptive *= static_cast<double>(shape.dim(i));
  const double fan_in =
      shape.rank() == 0 ? 1
                        : receptive * static_cast<double>(shape.dim(shape.rank() == 1 ? 0 : -2));
  const double fan_out = shape.rank() == 0 ? 1 : receptive * static_cast<double>(shape.dim(-1));
  const double limit = std::sqrt(6.0 / std::max(1.0, fan_in + fan_out));
  const auto [seed, seed2] = graph.OpSeeds(std::nullopt);
  const Tensor uniform =
      graph.AddOp("RandomUniform", {shape_tensor},
                  {{"dtype", dtype}, {"seed", seed}, {"seed2", seed2}}, "RandomUniform");
  const Tensor scaled = graph.AddOp("Mul", {uniform, constant(2 * limit)}, {}, "mul");
  return graph.AddOp("AddV2", {scaled, constant(-limit)});
}

std::string ReuseAdvice(const Graph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (const Variable& variable : graph.variables()) names.push_back(variable.name());
  if (names.empty()) return "the graph has no variables yet;";
  const std::optional<std::string> nearest = NearestName(name, names);
  return nearest.has_value() ? absl::StrCat("did you mean '", *nearest, "'?")
                             : absl::StrCat("the graph has ", names.size(),
                                            " variables, none with a similar name;");
}

}  // namespace

const std::string& Variable::name() const {
  static const std::string* const kNone = new std::string("<invalid>");
  return valid() ? node_->name() : *kNone;
}

const TensorSpec& Variable::spec() const {
  static const TensorSpec* const kNone = new TensorSpec();
  return valid() ? node_->outputs()[0] : *kNone;
}

Variable GetVariable(StringArg name, const Shape& shape, const VariableOptions& options) {
  // The body of a loop or a branch captures the value.
  Graph& graph = Graph::Current().root();
  const GraphScope in_root(graph);
  VariableScopeState& scope = graph.variable_scope_;
  if (scope.bfloat16_reads_float32 && options.dtype == DType::kBfloat16) {
    VariableOptions stored = options;
    stored.dtype = DType::kFloat32;
    Variable variable = GetVariable(name, shape, stored);
    if (variable.valid()) {
      variable.read_ = graph.AddOp("Cast", {variable.read_},
                                   {{"SrcT", DType::kFloat32}, {"DstT", DType::kBfloat16}});
    }
    return variable;
  }
  const std::string full = absl::StrCat(scope.prefix, name);
  const auto fail = [&](std::string message) {
    Variable invalid;
    invalid.graph_ = &graph;
    invalid.read_ = graph.Fail(InvalidArgument(std::move(message)));
    return invalid;
  };
  const TensorSpec spec{options.dtype, shape};
  if (const std::optional<Variable> existing = graph.FindVariable(full)) {
    if (scope.reuse == Reuse::kFalse) {
      return fail(absl::StrCat(
          "variable '", full,
          "' already exists; to share it, write `const VariableScope shared(GetVariableScope(), "
          "{.reuse = Reuse::kAuto});` before this call; else give the layer or scope another "
          "name"));
    }
    if (!(existing->spec() == spec)) {
      return fail(absl::StrCat("variable '", full, "' is ", existing->spec().ToString(),
                               ", but this call asks for ", spec.ToString()));
    }
    return *existing;
  }
  if (scope.reuse == Reuse::kTrue) {
    return fail(absl::StrCat("variable '", full,
                             "' does not exist, and its VariableScope has Reuse::kTrue; ",
                             ReuseAdvice(graph, full), " Reuse::kAuto would create it"));
  }
  if (!shape.fully_known()) {
    return fail(absl::StrCat("variable '", full, "' needs a known shape, not ", shape.ToString()));
  }
  Variable variable;
  variable.graph_ = &graph;
  variable.trainable_ = options.trainable && !options.local;
  variable.local_ = options.local;
  {
    // The node has exactly the variable's name, even if the caller is in a name scope.
    const AbsoluteNameScope root(graph, "");
    variable.node_ =
        graph.AddNode("VariableV2", {}, {{"dtype", options.dtype}, {"shape", shape}}, full);
  }
  if (variable.node_ == nullptr) return fail(absl::StrCat("variable '", full, "' cannot be built"));
  {
    const AbsoluteNameScope inside(graph, absl::StrCat(full, "/"));
    variable.read_ = graph.AddOp("Identity", {Tensor(&graph, variable.node_, 0)}, {}, "read");
    const Initializer& initializer = options.initializer ? options.initializer : scope.initializer;
    {
      const NameScope initializer_scope("Initializer", graph);
      variable.initial_value_ = initializer ? initializer(shape, options.dtype)
                                            : DefaultInitialValue(graph, shape, options.dtype);
    }
    if (variable.initial_value_.valid() && !(variable.initial_value_.spec() == spec)) {
      return fail(absl::StrCat("variable '", full, "' is ", spec.ToString(),
                               ", but its initializer gives ",
                               variable.initial_value_.spec().ToString()));
    }
    graph.AddNode("Assign", {Tensor(&graph, variable.node_, 0), variable.initial_value_});
  }
  graph.variables_.push_back(variable);
  const Regularizer& regularizer = options.regularizer ? options.regularizer : scope.regularizer;
  if (regularizer && variable.trainable_) {
    const AbsoluteNameScope inside(graph, absl::StrCat(full, "/"));
    const NameScope regularizer_scope("Regularizer", graph);
    graph.regularization_losses_.push_back(regularizer(variable.read_));
  }
  return variable;
}

Variable GetOrCreateGlobalStep() {
  Graph& graph = Graph::Current().root();
  if (const std::optional<Variable> existing = graph.GlobalStep()) return *existing;
  // TensorFlow's global_step is outside every variable scope.
  const std::string prefix = std::exchange(graph.variable_scope().prefix, "");
  const Initializer zero = [&graph](const Shape&, DType) {
    return graph.AddConst(Array::Scalar<int64_t>(0), "zeros");
  };
  const Variable global_step = GetVariable(
      "global_step", {}, {.dtype = DType::kInt64, .initializer = zero, .trainable = false});
  graph.variable_scope().prefix = prefix;
  return global_step;
}

Tensor InitializedValue(const Variable& variable) {
  Graph& graph = variable.graph() != nullptr ? *variable.graph() : Graph::Current();
  if (!variable.valid()) {
    return graph.Fail(InvalidArgument("InitializedValue: the variable is not valid"));
  }
  const Tensor value = graph.AddOp("Identity", {variable.initial_value()});
  if (value.valid()) graph.initialized_values_.emplace_back(value, variable);
  return value;
}

namespace {

// A copy without the counts, which are large.
VariableScopeState WithoutCounts(const VariableScopeState& state) {
  return {VariableScopeSettings(state), state.prefix, /*open_counts=*/{}};
}

}  // namespace

CapturedVariableScope GetVariableScope() {
  const VariableScopeState& state = Graph::Current().variable_scope();
  return {VariableScopeSettings(state), std::string(absl::StripSuffix(state.prefix, "/"))};
}

void ReuseVariables() { Graph::Current().variable_scope().reuse = Reuse::kTrue; }

VariableScope::VariableScope(StringArg name, VariableScopeOptions options)
    : graph_(Graph::Current()),
      previous_name_scope_(graph_.name_scope_),
      previous_(WithoutCounts(graph_.variable_scope())),
      counts_are_restored_(false) {
  VariableScopeState& state = graph_.variable_scope();
  // TensorFlow's root has no name, so that "" in it does not add a '/'. Inside "a", "" is "a//".
  if (!state.prefix.empty() || !name.empty()) absl::StrAppend(&state.prefix, name, "/");
  ++state.open_counts[state.prefix];
  Open(name, options);
  state.original_name_scope = graph_.name_scope_;
}

VariableScope::VariableScope(const CapturedVariableScope& scope, VariableScopeOptions options)
    : graph_(Graph::Current()),
      previous_name_scope_(graph_.name_scope_),
      previous_(graph_.variable_scope()),
      counts_are_restored_(true) {
  VariableScopeState& state = graph_.variable_scope();
  state.prefix = scope.name.empty() ? "" : absl::StrCat(scope.name, "/");
  static_cast<VariableScopeSettings&>(state) = scope;
  Open(scope.name.substr(scope.name.rfind('/') + 1), options);
}

void VariableScope::Open(absl::string_view last_name, const VariableScopeOptions& options) {
  VariableScopeState& state = graph_.variable_scope();
  prefix_ = state.prefix;
  if (options.reuse == Reuse::kTrue || options.reuse == Reuse::kAuto) state.reuse = options.reuse;
  if (options.initializer) state.initializer = options.initializer;
  if (options.regularizer) state.regularizer = options.regularizer;
  if (options.bfloat16_reads_float32) state.bfloat16_reads_float32 = true;
  if (!last_name.empty() && options.auxiliary_name_scope) {
    graph_.name_scope_ = absl::StrCat(graph_.UniqueName(last_name), "/");
  }
}

VariableScope::~VariableScope() {
  VariableScopeState& state = graph_.variable_scope();
  std::map<std::string, int> counts =
      counts_are_restored_ ? previous_.open_counts : std::move(state.open_counts);
  if (counts_are_restored_) {
    ++counts[prefix_];
  } else if (!prefix_.empty()) {
    for (auto& [scope, count] : counts) {
      if (scope.size() > prefix_.size() && absl::StartsWith(scope, prefix_)) count = 0;
    }
  }
  state = WithoutCounts(previous_);
  state.open_counts = std::move(counts);
  graph_.name_scope_ = previous_name_scope_;
}

// Source: TF 2.15 variable_scope._get_unique_variable_scope.
std::string VariableScope::UniqueDefaultName(StringArg default_name) {
  VariableScopeState& state = Graph::Current().variable_scope();
  std::string name(default_name);
  for (int suffix = 1; state.open_counts[absl::StrCat(state.prefix, name, "/")] > 0; ++suffix) {
    name = absl::StrCat(default_name, "_", suffix);
  }
  return name;
}

namespace {

Operation UpdateInBody(Graph& body, absl::string_view op, const Variable& variable,
                       const Tensor& value, absl::string_view name) {
  if (value.valid() && !(value.spec() == variable.spec())) {
    body.Fail(InvalidArgument("variable '", variable.name(), "' is ", variable.spec().ToString(),
                              ", its new value is ", value.spec().ToString()));
    return Operation(&body, nullptr);
  }
  Tensor before = variable.read(), after = value;
  for (const Graph::BodyUpdate& update : body.body_updates()) {
    if (update.variable.node() == variable.node()) before = update.value;
  }
  if (op == "AssignAdd") after = body.AddOp("AddV2", {before, value}, {{"T", value.dtype()}});
  const Operation operation(&body, body.AddNode("NoOp", {}, {}, name.empty() ? op : name));
  body.body_updates().push_back({operation, variable, body.Inside(after)});
  return operation;
}

Operation Update(absl::string_view op, const Variable& variable, const Tensor& value,
                 absl::string_view name) {
  Graph* graph = variable.graph() != nullptr ? variable.graph() : value.graph();
  if (graph == nullptr) graph = &Graph::Current();
  if (!variable.valid()) {
    graph->Fail(InvalidArgument(op, ": the variable is not valid"));
    return Operation(graph, nullptr);
  }
  Graph& target = GraphFor({value});
  if (target.IsInside(*graph)) return UpdateInBody(target, op, variable, value, name);
  return Operation(graph, graph->AddNode(op, {Tensor(graph, variable.node(), 0), value}, {}, name));
}

}  // namespace

Operation Assign(const Variable& variable, const Tensor& value, StringArg name) {
  return Update("Assign", variable, value, name);
}

Operation AssignAdd(const Variable& variable, const Tensor& delta, StringArg name) {
  return Update("AssignAdd", variable, delta, name);
}

Operation Group(absl::Span<const Operation> operations, StringArg name) {
  std::vector<Operation> valid;
  Graph* graph = nullptr;
  for (const Operation& operation : operations) {
    if (operation.graph() != nullptr) graph = operation.graph();
    if (operation.valid()) valid.push_back(operation);
  }
  if (graph == nullptr) graph = &Graph::Current();
  return Operation(graph, graph->AddNode("NoOp", {}, {}, name, std::move(valid)));
}

std::vector<Node*> CollectAssigns(absl::Span<const Operation> operations) {
  std::set<Node*> seen;
  std::vector<Node*> assigns;
  std::vector<Operation> pending(operations.begin(), operations.end());
  while (!pending.empty()) {
    const Operation operation = pending.back();
    pending.pop_back();
    if (!operation.valid() || !seen.insert(operation.node()).second) continue;
    if (operation.node()->op() == "Assign" || operation.node()->op() == "AssignAdd") {
      assigns.push_back(operation.node());
    }
    const std::vector<Operation>& inner = operation.node()->control_inputs();
    pending.insert(pending.end(), inner.begin(), inner.end());
  }
  std::sort(assigns.begin(), assigns.end(),
            [](const Node* a, const Node* b) { return a->id() < b->id(); });
  return assigns;
}

}  // namespace estimator
