#include "estimator/graph/graph.h"

#include <algorithm>
#include <functional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "estimator/array/element_limit.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graph/function.h"
#include "estimator/graph/needed_nodes.h"
#include "glog/logging.h"

namespace estimator {
namespace {

thread_local Graph* current_graph = nullptr;

// The largest number of elements of a tensor. Its size in bytes does not overflow an int64.
constexpr int64_t kMaxElements = int64_t{1} << 56;

std::string InputTypes(const std::vector<Tensor>& inputs) {
  return absl::StrJoin(inputs, " and ", [](std::string* out, const Tensor& input) {
    absl::StrAppend(out, input.spec().ToString());
  });
}

}  // namespace

Graph::Graph() = default;
Graph::Graph(Graph* outer) : outer_(outer) {}
Graph::Graph(Graph* outer, Graph* forward, Resolver resolve)
    : outer_(outer), forward_(forward), resolve_(std::move(resolve)) {}
Graph::~Graph() = default;

Graph& Graph::Current() {
  CHECK(current_graph != nullptr)
      << "no current graph: constants and variables are built inside a model_fn or a GraphScope";
  return *current_graph;
}

bool Graph::HasCurrent() { return current_graph != nullptr; }

GraphScope::GraphScope(Graph& graph) : previous_(std::exchange(current_graph, &graph)) {}
GraphScope::~GraphScope() { current_graph = previous_; }

NameScope::NameScope(StringArg name, Graph& graph) : graph_(graph), previous_(graph.name_scope_) {
  prefix_ = absl::StrCat(graph.UniqueName(name), "/");
  graph_.name_scope_ = prefix_;
}
NameScope::~NameScope() { graph_.name_scope_ = previous_; }

// Source: TF 2.15 ops.Graph.unique_name.
std::string Graph::UniqueName(StringArg name) {
  if (absl::EndsWith(name, "/")) return std::string(absl::StripSuffix(name, "/"));
  std::string full = absl::StrCat(name_scope_, name);
  std::string key = absl::AsciiStrToLower(full);
  int suffix = names_in_use_[key]++;
  if (suffix == 0) return full;
  const std::string base = full;
  do {
    full = absl::StrCat(base, "_", suffix++);
    key = absl::AsciiStrToLower(full);
  } while (names_in_use_.count(key) > 0);
  names_in_use_[absl::AsciiStrToLower(base)] = suffix;
  names_in_use_[key] = 1;
  return full;
}

Tensor Graph::Fail(absl::Status status) {
  if (status_.ok() && !status.ok()) {
    const std::string scope(absl::StripSuffix(name_scope_, "/"));
    status_ = scope.empty() || absl::StrContains(status.message(), scope)
                  ? std::move(status)
                  : absl::Status(status.code(), absl::StrCat(scope, ": ", status.message()));
  }
  return Tensor(this, nullptr, 0);
}

bool Graph::IsInside(const Graph& graph) const {
  return outer_ != nullptr && (outer_ == &graph || forward_ == &graph || outer_->IsInside(graph));
}

Tensor Graph::Inside(const Tensor& tensor) {
  if (!tensor.valid() || tensor.graph() == this) return tensor;
  if (!IsInside(*tensor.graph())) {
    return Fail(InvalidArgument(
        "'", tensor.name(),
        tensor.graph()->outer() == nullptr
            ? "' belongs to another graph; build all of a model inside its model_fn"
            : "' was made in the body of a loop or a branch; return it from the body to use it "
              "outside"));
  }
  if (tensor.graph() == forward_) {
    const auto found = resolved_.find(tensor);
    if (found != resolved_.end()) return found->second;
    const Tensor inner = Inside(resolve_(tensor));
    resolved_[tensor] = inner;
    return inner;
  }
  const Tensor outer = outer_->Inside(tensor);
  if (!outer.valid()) {
    Fail(outer_->status());
    return Tensor(this, nullptr, 0);
  }
  const auto found = inside_.find(outer);
  if (found != inside_.end()) return found->second;
  // Shapes and axes that follow from an outer tensor stay constants in the body.
  constexpr int64_t kMaxCopied = 64;
  std::optional<Array> value;
  if (IsFloating(outer.dtype()) || !outer.shape().fully_known()) {
    // A gradient may be asked for a constant too.
  } else if (outer.node()->op() == "Const") {
    value = outer.node()->attrs().get<Array>("value");
  } else if (IsInteger(outer.dtype())) {
    value = ConstantValue(outer, kMaxCopied);
  }
  const std::string scope = std::exchange(name_scope_, "");
  Tensor inner;
  if (value.has_value()) {
    inner = AddConst(*value, outer.node()->name());
  } else {
    inner = AddOp("Placeholder", {}, {{"dtype", outer.dtype()}, {"shape", outer.shape()}},
                  outer.node()->name());
    captures_.push_back(outer);
    captured_.push_back(inner);
  }
  name_scope_ = scope;
  inside_[outer] = inner;
  return inner;
}

std::vector<Tensor> Graph::AddStackedResults(Node& loop, const std::vector<Tensor>& results) {
  std::vector<Tensor> outputs;
  Function& body = *loop.functions_[1];
  const int64_t capacity = loop.attrs_.i("capacity");
  for (const Tensor& result : results) {
    CHECK(result.graph() == &body.graph());
    body.results_.push_back(result);
    loop.outputs_.push_back({result.dtype(), result.shape().Stacked(capacity)});
    outputs.emplace_back(this, &loop, loop.num_outputs() - 1);
  }
  return outputs;
}

Node* Graph::AddNode(StringArg op, std::vector<Tensor> inputs, Attrs attrs, StringArg name,
                     std::vector<Operation> control_inputs,
                     std::vector<std::shared_ptr<Function>> functions) {
  const auto fail = [this](absl::Status status) -> Node* {
    Fail(std::move(status));
    return nullptr;
  };
  const std::string base_name(name.empty() ? op : name);
  const std::string where = absl::EndsWith(base_name, "/")
                                ? std::string(absl::StripSuffix(base_name, "/"))
                                : absl::StrCat(name_scope_, base_name);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].valid()) {
      // The handle's own graph has the reason, unless the handle was default-constructed.
      if (inputs[i].graph() != nullptr && inputs[i].graph() != this)
        return fail(inputs[i].graph()->status());
      return fail(InvalidArgument(where, ": input ", i, " of ", op,
                                  " is not a tensor (a default-constructed handle)"));
    }
    inputs[i] = Inside(inputs[i]);
    if (!inputs[i].valid()) return nullptr;
    if (!inputs[i].shape().fully_known() && op != "While" && op != "Placeholder") {
      return fail(InvalidArgument(where, ": '", inputs[i].name(),
                                  "' has the values of a loop whose number of trips is not known; "
                                  "give the loop maximum_iterations"));
    }
  }
  const OpRules* rules = FindOp(op);
  if (rules == nullptr) {
    return fail(
        Unimplemented(where, ": no op '", op, "' is registered", DidYouMean(op, RegisteredOps())));
  }
  if (rules->num_inputs >= 0 && static_cast<size_t>(rules->num_inputs) != inputs.size()) {
    return fail(InvalidArgument(where, ": ", op, " takes ", rules->num_inputs, " inputs, not ",
                                inputs.size()));
  }
  absl::StatusOr<std::vector<TensorSpec>> outputs =
      rules->shape(ShapeContext{inputs, attrs, functions});
  if (!outputs.ok()) {
    return fail(absl::Status(
        outputs.status().code(),
        absl::StrCat(where, ": ", outputs.status().message(), " (", InputTypes(inputs), ")")));
  }
  auto node = std::make_unique<Node>();
  node->id_ = static_cast<int>(nodes_.size());
  node->name_ = UniqueName(base_name);
  node->op_ = std::string(op);
  node->rules_ = rules;
  node->attrs_ = std::move(attrs);
  node->inputs_ = std::move(inputs);
  node->control_inputs_ = std::move(control_inputs);
  node->outputs_ = *std::move(outputs);
  node->functions_ = std::move(functions);
  for (const TensorSpec& output : node->outputs_) {
    if (!output.shape.fully_known() && op != "While") {
      return fail(InvalidArgument(where, ": the result ", output.ToString(),
                                  " has an unknown size; shapes are static"));
    }
    if (output.shape.fully_known() && !HasElementsAtMost(output.shape, kMaxElements)) {
      return fail(InvalidArgument(where, ": the result ", output.ToString(),
                                  " has more elements than any memory holds"));
    }
  }
  nodes_by_name_[node->name_] = node.get();
  nodes_.push_back(std::move(node));
  return nodes_.back().get();
}

Tensor Graph::AddOp(StringArg op, std::vector<Tensor> inputs, Attrs attrs, StringArg name) {
  return Tensor(this, AddNode(op, std::move(inputs), std::move(attrs), name), 0);
}

Tensor Graph::AddConst(const Array& value, StringArg name) {
  return AddOp("Const", {}, {{"value", value}, {"dtype", value.dtype()}}, name);
}

Node* Graph::FindNode(StringArg name) const {
  const auto found = nodes_by_name_.find(std::string(name));
  return found == nodes_by_name_.end() ? nullptr : found->second;
}

Tensor Graph::FindTensor(StringArg name) {
  const size_t colon = name.rfind(':');
  int output = 0;
  if (colon != absl::string_view::npos && !absl::SimpleAtoi(name.substr(colon + 1), &output))
    output = -1;
  Node* node = FindNode(name.substr(0, colon));
  if (node == nullptr || output < 0 || output >= node->num_outputs())
    return Tensor(this, nullptr, 0);
  return Tensor(this, node, output);
}

int Graph::ReplaceInputs(const std::vector<std::pair<Tensor, Tensor>>& from_to) {
  std::vector<Tensor> made;
  for (const auto& [from, to] : from_to) made.push_back(to);
  const std::vector<const Node*> needed = NeededNodes(*this, made);
  const std::set<const Node*> skipped(needed.begin(), needed.end());
  int count = 0;
  for (const std::unique_ptr<Node>& node : nodes_) {
    if (skipped.count(node.get()) > 0) continue;
    for (Tensor& input : node->inputs_) {
      const auto pair = std::find_if(from_to.begin(), from_to.end(),
                                     [&input](const auto& p) { return p.first == input; });
      if (pair == from_to.end()) continue;
      input = pair->second;
      ++count;
    }
  }
  // Nodes keep their order, except that each moves before the first node that needs it.
  std::vector<std::unique_ptr<Node>> before = std::exchange(nodes_, {});
  const std::function<void(Node*)> place = [&](Node* node) {
    std::unique_ptr<Node>& owner = before[static_cast<size_t>(node->id_)];
    if (owner == nullptr) return;  // it is placed already
    std::unique_ptr<Node> own = std::move(owner);
    for (const Tensor& input : node->inputs_) place(input.node());
    for (const Operation& control : node->control_inputs_) place(control.node());
    nodes_.push_back(std::move(own));
  };
  for (size_t i = 0; i < before.size(); ++i)
    if (before[i] != nullptr) place(before[i].get());
  // Only now, because `place` finds the owners by the old ids.
  for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i]->id_ = static_cast<int>(i);
  return count;
}

// Source: TF 2.15 random_seed.get_seed.
std::pair<int64_t, int64_t> Graph::OpSeeds(std::optional<int64_t> op_seed) {
  constexpr int64_t kModulus = (int64_t{1} << 31) - 1;
  // As Python's %: the result is never negative.
  const auto truncated = [](int64_t seed) { return (seed % kModulus + kModulus) % kModulus; };
  Graph& all = root();
  if (!op_seed.has_value()) {
    // Two ops of one body, or of two, must not get one seed.
    constexpr int64_t kMaxNodesOfBody = 1'000'003;
    op_seed = all.seed_.has_value() ? all.num_unseeded_ops_++
              : outer_ == nullptr   ? static_cast<int64_t>(nodes_.size())
                                    : static_cast<int64_t>(all.nodes_.size()) * kMaxNodesOfBody +
                                        static_cast<int64_t>(nodes_.size());
  }
  const std::pair<int64_t, int64_t> seeds = {
      all.seed_.has_value() ? truncated(*all.seed_) : kDefaultGraphSeed, truncated(*op_seed)};
  // TensorFlow's kernels take (0, 0) as "no seed".
  if (seeds.first == 0 && seeds.second == 0) return {0, kModulus};
  return seeds;
}

std::vector<Variable> Graph::TrainableVariables() const {
  std::vector<Variable> trainable;
  for (const Variable& variable : variables()) {
    if (variable.trainable()) trainable.push_back(variable);
  }
  return trainable;
}

std::vector<Variable> Graph::ModelVariables() const {
  std::vector<Variable> result;
  for (const Variable& variable : variables()) {
    if (!variable.local() && variable.name() != "global_step" &&
        training_variables().count(variable.name()) == 0)
      result.push_back(variable);
  }
  return result;
}

std::optional<Variable> Graph::FindVariable(StringArg name) const {
  for (const Variable& variable : variables()) {
    if (variable.name() == name) return variable;
  }
  return std::nullopt;
}

Graph& GraphFor(const std::vector<Tensor>& inputs) {
  Graph* innermost = nullptr;
  for (const Tensor& input : inputs) {
    Graph* const graph = input.graph();
    if (graph == nullptr) continue;
    if (innermost == nullptr || graph->IsInside(*innermost)) innermost = graph;
  }
  if (innermost == nullptr) return Graph::Current();
  // A body that has been built gets no more ops: the current graph then refuses its tensor.
  if (current_graph != nullptr &&
      (current_graph->IsInside(*innermost) || innermost->IsInside(*current_graph)))
    return *current_graph;
  return *innermost;
}

Tensor AddOp(StringArg op, std::vector<Tensor> inputs, Attrs attrs, StringArg name) {
  Graph& graph = GraphFor(inputs);
  return graph.AddOp(op, std::move(inputs), std::move(attrs), name);
}

std::vector<Tensor> AddOpN(StringArg op, int num_outputs, std::vector<Tensor> inputs, Attrs attrs,
                           StringArg name) {
  Graph& graph = GraphFor(inputs);
  Node* node = graph.AddNode(op, std::move(inputs), std::move(attrs), name);
  std::vector<Tensor> outputs;
  for (int i = 0; i < num_outputs; ++i) outputs.emplace_back(&graph, node, i);
  return outputs;
}

}  // namespace estimator
