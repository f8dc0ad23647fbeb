#include "estimator/graphdef/import/flat_graph.h"

#include <optional>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/graphdef/import/frames/frame_converter.h"
#include "estimator/graphdef/import/functions/function_scope.h"
#include "estimator/graphdef/import/op_kinds.h"

namespace estimator {
namespace {

// A limit for a malformed file: each call of a function hands its control inputs on to the whole
// body.
constexpr size_t kMaxEdges = 1 << 22;

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
  const auto find_frames = [&flat](const auto& nodes) {
    for (const proto::NodeDef& node : nodes)
      flat->has_frames_ = flat->has_frames_ || IsFrameOp(node.op());
  };
  find_frames(graph_def.node());
  for (const proto::FunctionDef& function : graph_def.library().function())
    find_frames(function.node_def());
  return flat;
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
  if (has_all_) return absl::OkStatus();
  has_all_ = true;
  EST_RETURN_IF_ERROR(AddAllOf(*scopes_[0]));
  for (int i = 0; i < size(); ++i) EST_RETURN_IF_ERROR(Connect(i));
  if (has_frames_) FrameConverter(nodes_, frame_loops_).Run();
  places_.resize(nodes_.size());
  return absl::OkStatus();
}

absl::Status FlatGraph::Resolve(const std::vector<int>& roots, bool controls) {
  // Which nodes are in a loop of TensorFlow 1 is known when all are.
  if (has_frames_) EST_RETURN_IF_ERROR(AddAll());
  std::set<int> seen;
  // Reversed, because the last element is taken first: nodes are numbered in the order of roots and
  // inputs.
  std::vector<int> pending(roots.rbegin(), roots.rend());
  while (!pending.empty()) {
    const int at = pending.back();
    pending.pop_back();
    if (!seen.insert(at).second) continue;
    EST_RETURN_IF_ERROR(Connect(at));
    // Nothing need read the If itself, but it has the condition of its nodes.
    if (node(at).branch >= 0) EST_RETURN_IF_ERROR(Connect(node(at).branch));
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
  const bool is_loop = !functions.empty() && IsLoopOp(def.op());
  const bool is_branch = !functions.empty() && IsBranchOp(def.op());
  // The body of a call reads its arguments. An If reads its condition itself, a Case its index.
  int num_inputs = functions.empty() || is_loop ? def.input_size() : is_branch ? 1 : 0;
  for (const std::string& input : def.input()) {
    if (num_inputs-- <= 0 || absl::StartsWith(input, "^")) break;  // control inputs come last
    EST_ASSIGN_OR_RETURN(inputs.emplace_back(), ResolveIn(scope, input, 0, &controls));
  }
  EST_RETURN_IF_ERROR(AddControls(scope, index, controls));
  // A function starts after the control inputs of its call, and a branch after the condition.
  for (const Scope* at = &scope; at->caller != nullptr; at = at->caller) {
    EST_RETURN_IF_ERROR(AddControls(*at->caller, at->call, controls));
    if (at->branch < 0 || at->branch == at->caller->branch) continue;
    const proto::NodeDef& call = at->caller->nodes->Get(at->call);
    EST_ASSIGN_OR_RETURN(const FlatTensor condition,
                         ResolveIn(*at->caller, call.input(0), 0, nullptr));
    controls.push_back(condition.node);
  }
  for (size_t k = 0; k < functions.size(); ++k) {
    EST_ASSIGN_OR_RETURN(Scope* const called, Call(scope, index, functions, k));
    for (int i = 0; (is_branch || is_loop) && i < functions[k]->signature().output_arg_size();
         ++i) {
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
  const auto of_frame = frame_loops_.find(i);
  if (of_frame != frame_loops_.end()) return of_frame->second;
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
