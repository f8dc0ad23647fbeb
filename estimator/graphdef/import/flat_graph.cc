#include "estimator/graphdef/import/flat_graph.h"

#include <algorithm>
#include <optional>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/import/output_numbers.h"
#include "estimator/graphdef/node_attr.h"

namespace estimator {
namespace {

// Limits for a malformed file: its functions may call each other in a cycle, or twice at every
// level, and each call hands its control inputs on to the whole body.
constexpr int kMaxDepth = 200;
constexpr size_t kMaxScopes = 100000;
constexpr size_t kMaxNodes = 1 << 20;
constexpr size_t kMaxEdges = 1 << 22;

template <typename Nodes>
absl::StatusOr<std::map<absl::string_view, int>> IndexNodes(const Nodes& nodes,
                                                            absl::string_view where) {
  std::map<absl::string_view, int> index;
  for (int i = 0; i < nodes.size(); ++i) {
    if (index.emplace(nodes.Get(i).name(), i).second) continue;
    return InvalidArgument(where, ": two nodes are called '", nodes.Get(i).name(), "'");
  }
  return index;
}

template <typename Index>
absl::Status NotFoundIn(absl::string_view where, absl::string_view what, absl::string_view name,
                        const Index& index) {
  std::vector<std::string> names;
  for (const auto& [other, i] : index) names.emplace_back(other);
  // Comparing with all names of a very large graph would take too long.
  return InvalidArgument(where, " has no ", what, " '", name, "'",
                         names.size() < 10000 ? DidYouMean(name, names) : "");
}

}  // namespace

// The nodes of the graph, or of one call of a function.
struct FlatGraph::Scope {
  const proto::FunctionDef* function = nullptr;  // null: the graph itself
  const google::protobuf::RepeatedPtrField<proto::NodeDef>* nodes = nullptr;
  Scope* caller = nullptr;
  int call = -1;               // the node of `caller` that makes this call
  int first_arg = 0;           // the input of that node that is the function's first argument
  int depth = 0;               // the number of callers
  bool in_branch = false;      // the function is a branch of an If, or is called in one
  int loop = -1;               // the innermost loop that runs the function
  std::vector<bool> constant;  // of a function of a loop: the arguments that do not change
  std::map<int, int> args;     // argument -> node of the FlatGraph
  std::string prefix;          // "StatefulPartitionedCall/"
  const NodeIndex* index = nullptr;
  std::map<int, int> flat;  // node of this scope -> node of the FlatGraph
  // Node of this scope, number of its function -> the scope of that function.
  std::map<std::pair<int, size_t>, Scope*> calls;

  std::string Where() const {
    return function == nullptr ? "the graph"
                               : absl::StrCat("function '", function->signature().name(), "'");
  }
};

namespace {

// The arguments that the body of a loop returns unchanged.
std::vector<bool> ConstantArgs(const proto::FunctionDef& body,
                               const std::map<absl::string_view, int>& index) {
  const auto& signature = body.signature();
  std::vector<bool> constant;
  for (int i = 0; i < signature.output_arg_size() && i < signature.input_arg_size(); ++i) {
    const auto result = body.ret().find(signature.output_arg(i).name());
    absl::string_view name = result == body.ret().end() ? "" : absl::string_view(result->second);
    for (int steps = 0; steps < 100; ++steps) {
      const auto node = index.find(name.substr(0, name.find(':')));
      if (node == index.end()) break;
      const proto::NodeDef& def = body.node_def(node->second);
      if (def.op() != "Identity" || def.input_size() == 0) break;
      name = def.input(0);
    }
    constant.push_back(name == signature.input_arg(i).name());
  }
  return constant;
}

}  // namespace

FlatGraph::FlatGraph(const proto::GraphDef& graph_def) : graph_def_(graph_def) {}
FlatGraph::~FlatGraph() = default;

absl::StatusOr<std::unique_ptr<FlatGraph>> FlatGraph::Create(const proto::GraphDef& graph_def) {
  auto flat = absl::WrapUnique(new FlatGraph(graph_def));
  auto scope = std::make_unique<Scope>();
  EST_ASSIGN_OR_RETURN(flat->indexes_[nullptr], IndexNodes(graph_def.node(), "the graph"));
  scope->nodes = &graph_def.node();
  scope->index = &flat->indexes_[nullptr];
  flat->scopes_.push_back(std::move(scope));
  for (const proto::FunctionDef& function : graph_def.library().function()) {
    if (flat->functions_.emplace(function.signature().name(), &function).second) continue;
    return InvalidArgument("two functions are called '", function.signature().name(), "'");
  }
  return flat;
}

// The functions of a node: that of a call, then_branch and else_branch of an If, cond and body of a
// While, or none. An If whose functions are missing stays as it is, and the import lists it.
FlatGraph::Functions FlatGraph::FunctionsOf(const proto::NodeDef& node) const {
  const auto function = [this](absl::string_view name) {
    const auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : found->second;
  };
  const auto of_attr = [&](const char* attr) {
    const proto::AttrValue* const named = FindAttr(node, attr);
    return named == nullptr ? nullptr : function(named->func().name());
  };
  Functions functions;
  if (node.op() == "If" || node.op() == "StatelessIf") {
    if (node.input_size() > 0) functions = {of_attr("then_branch"), of_attr("else_branch")};
  } else if (IsLoopOp(node.op())) {
    functions = {of_attr("cond"), of_attr("body")};
  } else if (node.op() == "PartitionedCall" || node.op() == "StatefulPartitionedCall") {
    functions = {of_attr("f")};
  } else {
    // In the older form of a call, the op of the node is the name of the function.
    functions = {function(node.op())};
  }
  if (std::count(functions.begin(), functions.end(), nullptr) > 0) functions.clear();
  return functions;
}

absl::StatusOr<int> FlatGraph::NodeIn(Scope& scope, int index) {
  const auto [it, is_new] = scope.flat.emplace(index, size());
  if (!is_new) return it->second;
  if (nodes_.size() >= kMaxNodes) {
    return InvalidArgument("the graph has more than ", kMaxNodes,
                           " nodes when functions are inlined");
  }
  const proto::NodeDef& def = scope.nodes->Get(index);
  const size_t num_functions = FunctionsOf(def).size();
  FlatNode& node = nodes_.emplace_back();
  node.name = absl::StrCat(scope.prefix, def.name());
  node.def = &def;
  node.op = num_functions == 0   ? absl::string_view(def.op())
            : num_functions == 1 ? kCallOp
            : IsLoopOp(def.op()) ? kLoopOp
                                 : kSelectBranchOp;
  node.in_branch = scope.in_branch;
  node.loop = scope.loop;
  places_.emplace_back(&scope, index);
  return it->second;
}

// The node of an argument of a loop's function.
absl::StatusOr<int> FlatGraph::LoopArg(Scope& scope, int arg) {
  const auto [it, is_new] = scope.args.emplace(arg, size());
  if (!is_new) return it->second;
  FlatNode& node = nodes_.emplace_back();
  node.name = absl::StrCat(scope.prefix, scope.function->signature().input_arg(arg).name());
  node.def = &scope.caller->nodes->Get(scope.call);
  node.op = kLoopArgOp;
  node.in_branch = scope.in_branch;
  node.loop = scope.loop;
  places_.emplace_back(&scope, -1);
  return it->second;
}

// The scope of function k of a node.
absl::StatusOr<FlatGraph::Scope*> FlatGraph::Call(Scope& scope, int index,
                                                  const Functions& functions, size_t k) {
  // A call is instantiated once, however many of its outputs are read.
  const auto done = scope.calls.find({index, k});
  if (done != scope.calls.end()) return done->second;
  const proto::FunctionDef& function = *functions[k];
  if (scope.depth >= kMaxDepth || scopes_.size() > kMaxScopes) {
    return InvalidArgument("function '", function.signature().name(),
                           "' calls itself, or functions call each other more than ",
                           scope.depth >= kMaxDepth ? kMaxDepth : static_cast<int>(kMaxScopes),
                           " times");
  }
  const bool is_loop = IsLoopOp(scope.nodes->Get(index).op());
  const bool is_if = functions.size() == 2 && !is_loop;
  auto called = std::make_unique<Scope>();
  called->function = &function;
  called->nodes = &function.node_def();
  called->caller = &scope;
  called->call = index;
  called->first_arg = is_if ? 1 : 0;
  called->depth = scope.depth + 1;
  called->in_branch = scope.in_branch || is_if;
  called->prefix = absl::StrCat(scope.prefix, scope.nodes->Get(index).name(),
                                functions.size() == 1 ? "/"
                                : is_loop             ? (k == 0 ? "/cond/" : "/body/")
                                : k == 0              ? "/then/"
                                                      : "/else/");
  called->loop = scope.loop;
  if (is_loop) {
    EST_ASSIGN_OR_RETURN(called->loop, NodeIn(scope, index));
    const auto [of_body, is_first] = indexes_.try_emplace(functions[1]);
    if (is_first) {
      EST_ASSIGN_OR_RETURN(of_body->second, IndexNodes(functions[1]->node_def(), "a loop"));
    }
    called->constant = ConstantArgs(*functions[1], of_body->second);
  }
  // All calls of one function share its index.
  const auto [node_index, is_new] = indexes_.try_emplace(&function);
  if (is_new) {
    EST_ASSIGN_OR_RETURN(node_index->second, IndexNodes(function.node_def(), called->Where()));
  }
  called->index = &node_index->second;
  scopes_.push_back(std::move(called));
  scope.calls.emplace(std::make_pair(index, k), scopes_.back().get());
  return scopes_.back().get();
}

// Output `output` of a node, as its reader names it.
//   calls: receives the nodes of the calls that the tensor comes out of; null: nobody asks.
absl::StatusOr<FlatTensor> FlatGraph::OutputOf(Scope& scope, int index, absl::string_view output,
                                               int depth, std::vector<int>* calls) {
  const proto::NodeDef& def = scope.nodes->Get(index);
  int number = 0;
  if (scope.function == nullptr) {
    if (!absl::SimpleAtoi(output, &number)) number = -1;
  } else {
    EST_ASSIGN_OR_RETURN(number, OutputNumber(def, output));
  }
  if (number < 0) {
    return InvalidArgument("'", scope.prefix, def.name(), ":", output, "' is not an output");
  }
  const Functions functions = FunctionsOf(def);
  // The outputs of an If stay outputs of its node, which selects between the branches.
  if (functions.size() != 1) {
    EST_ASSIGN_OR_RETURN(const int node, NodeIn(scope, index));
    return FlatTensor{node, number};
  }
  const auto& signature = functions[0]->signature();
  if (number >= signature.output_arg_size()) {
    return InvalidArgument("'", scope.prefix, def.name(), "' has ", signature.output_arg_size(),
                           " outputs, not ", number + 1);
  }
  if (calls != nullptr) {
    EST_ASSIGN_OR_RETURN(calls->emplace_back(), NodeIn(scope, index));
  }
  EST_ASSIGN_OR_RETURN(Scope* const called, Call(scope, index, functions, 0));
  return ResultOf(*called, number, depth + 1, calls);
}

absl::StatusOr<FlatTensor> FlatGraph::ResultOf(Scope& called, int number, int depth,
                                               std::vector<int>* calls) {
  const std::string& arg = called.function->signature().output_arg(number).name();
  const auto result = called.function->ret().find(arg);
  if (result != called.function->ret().end())
    return ResolveIn(called, result->second, depth, calls);
  return InvalidArgument(called.Where(), " has no `ret` entry for its output '", arg, "'");
}

absl::StatusOr<FlatTensor> FlatGraph::ResolveIn(Scope& scope, absl::string_view name, int depth,
                                                std::vector<int>* calls) {
  // A function may return its argument, so a name can lead through many calls without reaching a
  // node.
  if (depth > kMaxDepth) {
    return InvalidArgument(scope.Where(), ": '", name, "' goes through more than ", kMaxDepth,
                           " functions");
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
      const auto at = static_cast<size_t>(i);
      const bool of_loop = IsLoopOp(scope.caller->nodes->Get(scope.call).op());
      if (of_loop && (at >= scope.constant.size() || !scope.constant[at])) {
        EST_ASSIGN_OR_RETURN(const int arg, LoopArg(scope, i));
        return FlatTensor{arg, 0};
      }
      const proto::NodeDef& call = scope.caller->nodes->Get(scope.call);
      const int input = scope.first_arg + i;
      if (input >= call.input_size() || absl::StartsWith(call.input(input), "^")) {
        return InvalidArgument("'", scope.caller->prefix, call.name(), "' calls ", scope.Where(),
                               " without its argument '", node, "'");
      }
      return ResolveIn(*scope.caller, call.input(input), depth + 1, calls);
    }
  }
  const auto found = scope.index->find(node);
  if (found == scope.index->end()) return NotFoundIn(scope.Where(), "node", node, *scope.index);
  return OutputOf(scope, found->second, output, depth, calls);
}

std::string FlatGraph::Where(int i) const {
  return absl::StrCat("'", node(i).name, "' (", node(i).def->op(), ")");
}

std::string FlatGraph::Placeholders() const {
  std::vector<std::string> names;
  for (const proto::NodeDef& node : graph_def_.node()) {
    if (node.op() == "Placeholder") names.push_back(absl::StrCat("'", node.name(), "'"));
  }
  return names.empty() ? "none" : JoinSome(names, 10);
}

absl::StatusOr<FlatTensor> FlatGraph::Find(absl::string_view name) {
  const size_t colon = name.rfind(':');
  int output = 0;
  const bool number = colon == absl::string_view::npos ||
                      (absl::SimpleAtoi(name.substr(colon + 1), &output) && output >= 0);
  if (name.empty() || !number) {
    return InvalidArgument("'", name, "' is not the name of a tensor: \"node\" or \"node:1\"");
  }
  return ResolveIn(*scopes_[0], name, 0, nullptr);
}

absl::StatusOr<int> FlatGraph::FindOp(absl::string_view name) {
  name = name.substr(0, name.find(':'));
  const auto found = scopes_[0]->index->find(name);
  if (found != scopes_[0]->index->end()) return NodeIn(*scopes_[0], found->second);
  return NotFoundIn("the graph", "op", name, *scopes_[0]->index);
}

absl::Status FlatGraph::AddAllOf(Scope& scope) {
  for (int i = 0; i < scope.nodes->size(); ++i) {
    const Functions functions = FunctionsOf(scope.nodes->Get(i));
    for (size_t k = 0; k < functions.size(); ++k) {
      EST_ASSIGN_OR_RETURN(Scope* const called, Call(scope, i, functions, k));
      EST_RETURN_IF_ERROR(AddAllOf(*called));
    }
    EST_RETURN_IF_ERROR(NodeIn(scope, i).status());
  }
  return absl::OkStatus();
}

absl::Status FlatGraph::AddAll() {
  EST_RETURN_IF_ERROR(AddAllOf(*scopes_[0]));
  for (int i = 0; i < size(); ++i) EST_RETURN_IF_ERROR(Connect(i));
  return absl::OkStatus();
}

absl::Status FlatGraph::Resolve(const std::vector<int>& roots, bool controls) {
  std::set<int> seen;
  // Reversed, because the last element is taken first: nodes are numbered in the order of roots and
  // inputs.
  std::vector<int> pending(roots.rbegin(), roots.rend());
  while (!pending.empty()) {
    const int at = pending.back();
    pending.pop_back();
    if (!seen.insert(at).second) continue;
    EST_RETURN_IF_ERROR(Connect(at));
    const FlatNode& from = node(at);
    if (controls) pending.insert(pending.end(), from.controls.rbegin(), from.controls.rend());
    for (auto input = from.inputs.rbegin(); input != from.inputs.rend(); ++input)
      if (!IsGiven(*input)) pending.push_back(input->node);
  }
  return absl::OkStatus();
}

// The control inputs of a node, by its own scope's names.
absl::Status FlatGraph::AddControls(Scope& scope, int index, std::vector<int>& controls) {
  const proto::NodeDef& def = scope.nodes->Get(index);
  for (absl::string_view input : def.input()) {
    if (!absl::ConsumePrefix(&input, "^")) continue;
    const auto from = scope.index->find(input);
    if (from != scope.index->end()) {
      EST_ASSIGN_OR_RETURN(controls.emplace_back(), NodeIn(scope, from->second));
    } else if (scope.function == nullptr) {  // in a function it may be an argument
      return InvalidArgument("the control input '^", input, "' does not exist");
    }
  }
  return absl::OkStatus();
}

absl::Status FlatGraph::Connect(Scope& scope, int index, std::vector<FlatTensor>& inputs,
                                std::vector<int>& controls) {
  const proto::NodeDef& def = scope.nodes->Get(index);
  const Functions functions = FunctionsOf(def);
  const bool is_loop = functions.size() == 2 && IsLoopOp(def.op());
  const bool is_if = functions.size() == 2 && !is_loop;
  // The body of a call reads its arguments. An If reads its condition itself.
  int num_inputs = functions.empty() || is_loop ? def.input_size() : is_if ? 1 : 0;
  for (const std::string& input : def.input()) {
    if (num_inputs-- <= 0 || absl::StartsWith(input, "^")) break;  // control inputs come last
    EST_ASSIGN_OR_RETURN(inputs.emplace_back(), ResolveIn(scope, input, 0, &controls));
  }
  EST_RETURN_IF_ERROR(AddControls(scope, index, controls));
  // A function starts after the control inputs of its call.
  for (const Scope* at = &scope; at->caller != nullptr; at = at->caller)
    EST_RETURN_IF_ERROR(AddControls(*at->caller, at->call, controls));
  for (size_t k = 0; k < functions.size(); ++k) {
    EST_ASSIGN_OR_RETURN(Scope* const called, Call(scope, index, functions, k));
    for (int i = 0; (is_if || is_loop) && i < functions[k]->signature().output_arg_size(); ++i) {
      EST_ASSIGN_OR_RETURN(inputs.emplace_back(), ResultOf(*called, i, 0, &controls));
    }
    // A node of the body may be behind no output, such as an update. It runs before the call ends.
    for (int i = 0; i < functions[k]->node_def_size(); ++i) {
      EST_ASSIGN_OR_RETURN(controls.emplace_back(), NodeIn(*called, i));
    }
  }
  if (is_loop) return AddLoop(scope, index, functions, inputs.size());
  return absl::OkStatus();
}

//   num_inputs: of the node: first values and results.
absl::Status FlatGraph::AddLoop(Scope& scope, int index, const Functions& functions,
                                size_t num_inputs) {
  const auto& cond = functions[0]->signature();
  const auto& body = functions[1]->signature();
  const int count = body.output_arg_size();
  if (count != body.input_arg_size() || count != cond.input_arg_size() ||
      cond.output_arg_size() != 1 || num_inputs != 2 * static_cast<size_t>(count) + 1) {
    return InvalidArgument("the condition and the body do not fit the loop's operands");
  }
  EST_ASSIGN_OR_RETURN(const int node, NodeIn(scope, index));
  EST_ASSIGN_OR_RETURN(loops_[node].first, Call(scope, index, functions, 0));
  EST_ASSIGN_OR_RETURN(loops_[node].second, Call(scope, index, functions, 1));
  return absl::OkStatus();
}

FlatLoop FlatGraph::loop(int i) const {
  const auto& [cond, body] = loops_.at(i);
  FlatLoop loop{.cond_args = {}, .body_args = {}, .constant = body->constant};
  for (int k = 0; k < static_cast<int>(loop.constant.size()); ++k) {
    const auto of_cond = cond->args.find(k), of_body = body->args.find(k);
    loop.cond_args.push_back(of_cond == cond->args.end() ? -1 : of_cond->second);
    loop.body_args.push_back(of_body == body->args.end() ? -1 : of_body->second);
  }
  return loop;
}

// Sets the inputs and control inputs of a node, once.
absl::Status FlatGraph::Connect(int node) {
  const auto at = static_cast<size_t>(node);
  if (nodes_[at].resolved) return absl::OkStatus();
  absl::StatusOr<std::optional<ParsedFeature>> feature = ReadParsedFeature(*nodes_[at].def);
  if (!feature.ok()) return Annotate(feature.status(), Where(node));
  std::vector<FlatTensor> inputs;
  std::vector<int> controls;
  // In a function the tensor's name means nothing: its nodes that pad are imported as others are.
  const absl::StatusOr<FlatTensor> serialized =
      feature->has_value() ? Find((*feature)->serialized) : NotFound("");
  if (serialized.ok()) {
    nodes_[at].parsed_feature = std::make_unique<ParsedFeature>(**std::move(feature));
    inputs = {*serialized};
  } else if (nodes_[at].op != kLoopArgOp &&
             !IsInputOp(nodes_[at].op)) {  // the iterator or queue itself stays behind
    const auto [scope, index] = places_[at];
    EST_RETURN_IF_ERROR(Annotate(Connect(*scope, index, inputs, controls), Where(node)));
  }
  num_edges_ += inputs.size() + controls.size();
  if (num_edges_ > kMaxEdges) {
    return InvalidArgument("the graph has more than ", kMaxEdges,
                           " inputs when functions are inlined");
  }
  // nodes_ may have grown meanwhile.
  nodes_[at].inputs = std::move(inputs);
  nodes_[at].controls = std::move(controls);
  nodes_[at].resolved = true;
  return absl::OkStatus();
}

}  // namespace estimator
