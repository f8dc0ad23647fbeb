#include "estimator/graphdef/import_flat_graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/graphdef/import_output_args.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {
namespace {

// Limits for a malformed file: its functions may call each other in a cycle, or twice at every
// level.
constexpr int kMaxDepth = 200;
constexpr size_t kMaxScopes = 100000;
constexpr size_t kMaxNodes = 1 << 20;

template <typename Nodes>
absl::StatusOr<std::map<absl::string_view, int>> IndexNodes(const Nodes& nodes,
                                                            absl::string_view where) {
  std::map<absl::string_view, int> index;
  for (int i = 0; i < nodes.size(); ++i) {
    if (index.emplace(nodes.Get(i).name(), i).second) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": two nodes are called '", nodes.Get(i).name(), "'"));
  }
  return index;
}

// "a:1" -> ("a", 1); "a" -> ("a", 0).
bool SplitOutput(absl::string_view name, absl::string_view* node, int* output) {
  const size_t colon = name.rfind(':');
  *node = name.substr(0, colon);
  *output = 0;
  return colon == absl::string_view::npos ||
         (absl::SimpleAtoi(name.substr(colon + 1), output) && *output >= 0);
}

}  // namespace

// The nodes of the graph, or of one call of a function.
struct FlatGraph::Scope {
  const proto::FunctionDef* function = nullptr;  // null: the graph itself
  Scope* caller = nullptr;
  int call = -1;       // the node of `caller` that makes this call
  std::string prefix;  // "StatefulPartitionedCall/"
  const NodeIndex* index = nullptr;
  std::map<int, int> flat;      // node of this scope -> node of the FlatGraph
  std::map<int, Scope*> calls;  // node of this scope -> the scope of the function that it calls

  const proto::NodeDef& def(const proto::GraphDef& graph_def, int i) const {
    return function != nullptr ? function->node_def(i) : graph_def.node(i);
  }
  std::string Where() const {
    return function == nullptr ? "the graph"
                               : absl::StrCat("function '", function->signature().name(), "'");
  }
};

FlatGraph::FlatGraph(const proto::GraphDef& graph_def) : graph_def_(graph_def) {}
FlatGraph::~FlatGraph() = default;

absl::StatusOr<std::unique_ptr<FlatGraph>> FlatGraph::Create(const proto::GraphDef& graph_def) {
  auto flat = absl::WrapUnique(new FlatGraph(graph_def));
  auto scope = std::make_unique<Scope>();
  EST_ASSIGN_OR_RETURN(flat->indexes_[nullptr], IndexNodes(graph_def.node(), "the graph"));
  scope->index = &flat->indexes_[nullptr];
  flat->scopes_.push_back(std::move(scope));
  for (const proto::FunctionDef& function : graph_def.library().function()) {
    if (flat->functions_.emplace(function.signature().name(), &function).second) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("two functions are called '", function.signature().name(), "'"));
  }
  return flat;
}

const proto::FunctionDef* FlatGraph::CalledFunction(const proto::NodeDef& node) const {
  absl::string_view name = node.op();
  if (node.op() == "PartitionedCall" || node.op() == "StatefulPartitionedCall") {
    const auto f = node.attr().find("f");
    if (f == node.attr().end()) return nullptr;
    name = f->second.func().name();
  }
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

absl::StatusOr<int> FlatGraph::NodeIn(Scope& scope, int index) {
  const auto [it, is_new] = scope.flat.emplace(index, static_cast<int>(nodes_.size()));
  if (!is_new) return it->second;
  if (nodes_.size() >= kMaxNodes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the graph has more than ", kMaxNodes, " nodes when functions are inlined"));
  }
  const proto::NodeDef& def = scope.def(graph_def_, index);
  FlatNode node;
  node.name = absl::StrCat(scope.prefix, def.name());
  node.def = &def;
  nodes_.push_back(std::move(node));
  places_.emplace_back(&scope, index);
  return it->second;
}

absl::StatusOr<FlatGraph::Scope*> FlatGraph::Call(Scope& scope, int index,
                                                  const proto::FunctionDef& function) {
  const auto done = scope.calls.find(index);
  if (done != scope.calls.end()) return done->second;
  int depth = 0;
  for (const Scope* at = &scope; at != nullptr; at = at->caller) ++depth;
  if (depth > kMaxDepth || scopes_.size() > kMaxScopes) {
    return absl::InvalidArgumentError(
        absl::StrCat("function '", function.signature().name(),
                     "' calls itself, or functions call each other more than ",
                     depth > kMaxDepth ? kMaxDepth : static_cast<int>(kMaxScopes), " times"));
  }
  auto called = std::make_unique<Scope>();
  called->function = &function;
  called->caller = &scope;
  called->call = index;
  called->prefix = absl::StrCat(scope.prefix, scope.def(graph_def_, index).name(), "/");
  // All calls of one function share its index.
  const auto [node_index, is_new] = indexes_.try_emplace(&function);
  if (is_new) {
    EST_ASSIGN_OR_RETURN(node_index->second, IndexNodes(function.node_def(), called->Where()));
  }
  called->index = &node_index->second;
  scopes_.push_back(std::move(called));
  scope.calls.emplace(index, scopes_.back().get());
  return scopes_.back().get();
}

absl::StatusOr<FlatTensor> FlatGraph::OutputOf(Scope& scope, int index, absl::string_view output,
                                               int depth) {
  const proto::NodeDef& def = scope.def(graph_def_, index);
  int number = 0;
  if (scope.function == nullptr) {
    if (!absl::SimpleAtoi(output, &number)) number = -1;
  } else {
    EST_ASSIGN_OR_RETURN(number, OutputNumber(def, output));
  }
  if (number < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", scope.prefix, def.name(), ":", output, "' is not an output"));
  }
  const proto::FunctionDef* function = CalledFunction(def);
  if (function == nullptr) {
    EST_ASSIGN_OR_RETURN(const int node, NodeIn(scope, index));
    return FlatTensor{node, number};
  }
  if (number >= function->signature().output_arg_size()) {
    return absl::InvalidArgumentError(absl::StrCat("'", scope.prefix, def.name(), "' has ",
                                                   function->signature().output_arg_size(),
                                                   " outputs, not ", number + 1));
  }
  EST_ASSIGN_OR_RETURN(Scope* const called, Call(scope, index, *function));
  const std::string& arg = function->signature().output_arg(number).name();
  const auto result = function->ret().find(arg);
  if (result == function->ret().end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(called->Where(), " has no `ret` entry for its output '", arg, "'"));
  }
  return ResolveIn(*called, result->second, depth + 1);
}

absl::StatusOr<FlatTensor> FlatGraph::ResolveIn(Scope& scope, absl::string_view name, int depth) {
  if (depth > kMaxDepth) {
    return absl::InvalidArgumentError(absl::StrCat(
        scope.Where(), ": '", name, "' goes through more than ", kMaxDepth, " functions"));
  }
  absl::string_view node = name, output = "0";
  const size_t colon = name.find(':');
  if (colon != absl::string_view::npos) {
    node = name.substr(0, colon);
    output = name.substr(colon + 1);
  }
  // The argument of a function is a tensor of its caller.
  if (scope.function != nullptr) {
    const auto& args = scope.function->signature().input_arg();
    for (int i = 0; i < args.size(); ++i) {
      if (args.Get(i).name() != node) continue;
      const proto::NodeDef& call = scope.caller->def(graph_def_, scope.call);
      if (i >= call.input_size() || absl::StartsWith(call.input(i), "^")) {
        return absl::InvalidArgumentError(absl::StrCat("'", scope.caller->prefix, call.name(),
                                                       "' calls ", scope.Where(),
                                                       " without its argument '", node, "'"));
      }
      return ResolveIn(*scope.caller, call.input(i), depth + 1);
    }
  }
  const auto found = scope.index->find(node);
  if (found == scope.index->end()) {
    std::vector<std::string> names;
    for (const auto& [other, index] : *scope.index) names.emplace_back(other);
    // Comparing with all names of a very large graph would take too long.
    const auto nearest = names.size() < 10000 ? NearestName(node, names) : std::nullopt;
    return absl::InvalidArgumentError(
        absl::StrCat(scope.Where(), " has no node '", node, "'",
                     nearest.has_value() ? absl::StrCat("; did you mean '", *nearest, "'?") : ""));
  }
  return OutputOf(scope, found->second, output, depth);
}

std::string FlatGraph::Placeholders() const {
  std::vector<std::string> names;
  for (const proto::NodeDef& node : graph_def_.node()) {
    if (node.op() == "Placeholder") names.push_back(absl::StrCat("'", node.name(), "'"));
  }
  return names.empty() ? "none" : JoinSome(names, 10);
}

absl::StatusOr<FlatTensor> FlatGraph::Find(absl::string_view name) {
  absl::string_view node;
  int output = 0;
  if (name.empty() || !SplitOutput(name, &node, &output)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", name, "' is not the name of a tensor: \"node\" or \"node:1\""));
  }
  return ResolveIn(*scopes_[0], name, 0);
}

absl::Status FlatGraph::Resolve(int node) {
  if (nodes_[static_cast<size_t>(node)].resolved) return absl::OkStatus();
  const auto [scope, index] = places_[static_cast<size_t>(node)];
  const proto::NodeDef& def = *nodes_[static_cast<size_t>(node)].def;
  std::vector<FlatTensor> inputs;
  for (const std::string& input : def.input()) {
    // Control inputs come last. They are not needed to compute a value.
    if (absl::StartsWith(input, "^")) break;
    const absl::StatusOr<FlatTensor> from = ResolveIn(*scope, input, 0);
    if (!from.ok())
      return Annotate(from.status(),
                      absl::StrCat("'", scope->prefix, def.name(), "' (", def.op(), ")"));
    inputs.push_back(*from);
  }
  nodes_[static_cast<size_t>(node)].inputs = std::move(inputs);
  nodes_[static_cast<size_t>(node)].resolved = true;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int>> FlatGraph::AllThatRuns(absl::string_view op) {
  const auto found = scopes_[0]->index->find(op);
  if (found == scopes_[0]->index->end())
    return absl::InvalidArgumentError(absl::StrCat("the graph has no op '", op, "'"));
  std::set<std::pair<Scope*, int>> seen;
  std::vector<std::pair<Scope*, int>> pending = {{scopes_[0].get(), found->second}};
  std::vector<int> all;
  while (!pending.empty()) {
    const auto [scope, index] = pending.back();
    pending.pop_back();
    if (!seen.emplace(scope, index).second) continue;
    const proto::NodeDef& def = scope->def(graph_def_, index);
    for (const std::string& input : def.input()) {
      if (!absl::StartsWith(input, "^")) continue;
      const auto control = scope->index->find(absl::string_view(input).substr(1));
      if (control != scope->index->end()) pending.emplace_back(scope, control->second);
    }
    if (const proto::FunctionDef* const function = CalledFunction(def)) {
      EST_ASSIGN_OR_RETURN(Scope* const called, Call(*scope, index, *function));
      for (int i = 0; i < function->node_def_size(); ++i) pending.emplace_back(called, i);
      continue;
    }
    EST_ASSIGN_OR_RETURN(const int node, NodeIn(*scope, index));
    all.push_back(node);
    EST_RETURN_IF_ERROR(Resolve(node));
    for (const FlatTensor& input : nodes_[static_cast<size_t>(node)].inputs)
      pending.push_back(places_[static_cast<size_t>(input.node)]);
  }
  return all;
}

}  // namespace estimator
