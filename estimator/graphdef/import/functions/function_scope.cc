#include "estimator/graphdef/import/functions/function_scope.h"

#include <algorithm>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/import/output_numbers.h"
#include "estimator/graphdef/node_attr.h"

namespace estimator {
namespace {

// Limits for a malformed file: its functions may call each other in a cycle, or twice at every
// level.
constexpr int kMaxDepth = 200;
constexpr size_t kMaxScopes = 100000;
constexpr size_t kMaxNodes = 1 << 20;

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

absl::StatusOr<std::map<absl::string_view, int>> IndexNodes(
    const google::protobuf::RepeatedPtrField<proto::NodeDef>& nodes, absl::string_view where) {
  std::map<absl::string_view, int> index;
  for (int i = 0; i < nodes.size(); ++i) {
    if (index.emplace(nodes.Get(i).name(), i).second) continue;
    return InvalidArgument(where, ": two nodes are called '", nodes.Get(i).name(), "'");
  }
  return index;
}

absl::Status NotFoundIn(absl::string_view where, absl::string_view what, absl::string_view name,
                        const std::map<absl::string_view, int>& index) {
  std::vector<std::string> names;
  for (const auto& [other, i] : index) names.emplace_back(other);
  // Comparing with all names of a very large graph would take too long.
  return InvalidArgument(where, " has no ", what, " '", name, "'",
                         names.size() < 10000 ? DidYouMean(name, names) : "");
}

// The functions of a node: that of a call, then_branch and else_branch of an If, those of a Case,
// cond and body of a While, or none. An If whose functions are missing stays as it is, and the
// import lists it.
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
  if (IsBranchOp(node.op())) {
    const proto::AttrValue* const branches = FindAttr(node, "branches");
    if (node.input_size() == 0 || absl::StartsWith(node.input(0), "^")) return {};
    if (!IsCaseOp(node.op())) {
      functions = {of_attr("then_branch"), of_attr("else_branch")};
    } else if (branches != nullptr) {
      for (const auto& named : branches->list().func()) functions.push_back(function(named.name()));
    }
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

int FlatGraph::NumBranches(int i) const {
  const proto::NodeDef& def = *node(i).def;
  return IsCaseOp(def.op()) ? FindAttr(def, "branches")->list().func_size() : 2;
}

absl::StatusOr<int> FlatGraph::NodeIn(Scope& scope, int index) {
  const auto [it, is_new] = scope.flat.emplace(index, size());
  if (!is_new) return it->second;
  if (nodes_.size() >= kMaxNodes) {
    return InvalidArgument("the graph has more than ", kMaxNodes,
                           " nodes when functions are inlined");
  }
  const proto::NodeDef& def = scope.nodes->Get(index);
  const bool calls = !FunctionsOf(def).empty();
  FlatNode& node = nodes_.emplace_back();
  node.name = absl::StrCat(scope.prefix, def.name());
  node.def = &def;
  node.op = !calls                 ? absl::string_view(def.op())
            : IsLoopOp(def.op())   ? kLoopOp
            : IsBranchOp(def.op()) ? kSelectBranchOp
                                   : kCallOp;
  node.branch = scope.branch;
  node.side = scope.side;
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
  node.branch = scope.branch;
  node.side = scope.side;
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
  const absl::string_view op = scope.nodes->Get(index).op();
  const bool is_loop = IsLoopOp(op), is_branch = IsBranchOp(op), is_case = IsCaseOp(op);
  auto called = std::make_unique<Scope>();
  called->function = &function;
  called->nodes = &function.node_def();
  called->caller = &scope;
  called->call = index;
  called->first_arg = is_branch ? 1 : 0;
  called->depth = scope.depth + 1;
  called->branch = scope.branch;
  called->side = scope.side;
  if (is_branch) {
    EST_ASSIGN_OR_RETURN(called->branch, NodeIn(scope, index));
    called->side = is_case ? static_cast<int>(k) : k == 0 ? 1 : 0;
  }
  called->prefix = absl::StrCat(scope.prefix, scope.nodes->Get(index).name(),
                                is_case     ? absl::StrCat("/branch", k, "/")
                                : is_loop   ? (k == 0 ? "/cond/" : "/body/")
                                : is_branch ? (k == 0 ? "/then/" : "/else/")
                                            : "/");
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
  // A gradient's branch gets what the forward branch kept for it in an Optional: the value itself
  // is read, as both are built in branches of one condition. An Optional is not looked for in
  // another one, because a small graph of them could take exponential time.
  if (def.op() == "OptionalGetValue" && def.input_size() > 0 && !in_optional_) {
    in_optional_ = true;
    const auto from = ResolveIn(scope, def.input(0), depth + 1, calls);
    in_optional_ = false;
    EST_RETURN_IF_ERROR(from.status());
    const auto [giver, place] = places_[static_cast<size_t>(from->node)];
    const auto& values = giver->nodes->Get(place).input();
    if (op(from->node) == "OptionalFromValue" && number < values.size() &&
        !absl::StartsWith(values.Get(number), "^"))
      return ResolveIn(*giver, values.Get(number), depth + 1, calls);
  }
  const Functions functions = FunctionsOf(def);
  // The outputs of an If stay outputs of its node, which chooses between the branches.
  if (functions.empty() || IsBranchOp(def.op()) || IsLoopOp(def.op())) {
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

// If a branch reads an output of an If or a Case of the same condition, as that of a gradient does:
// the result of the same branch there. Those of other branches may have other types. In a long
// chain of Ifs that return their arguments, the first ones choose.
absl::StatusOr<FlatTensor> FlatGraph::InSameBranch(Scope& scope, FlatTensor at, int depth,
                                                   std::vector<int>* calls) {
  if (op(at.node) != kSelectBranchOp || IsGiven(at) || depth > kMaxDepth / 2) return at;
  const auto [outer, index] = places_[static_cast<size_t>(at.node)];
  const proto::NodeDef& before = outer->nodes->Get(index);
  const proto::NodeDef& call = scope.caller->nodes->Get(scope.call);
  const Functions functions = FunctionsOf(before);
  const auto k = static_cast<size_t>(IsCaseOp(call.op()) ? scope.side : 1 - scope.side);
  if (IsCaseOp(call.op()) != IsCaseOp(before.op()) ||
      functions.size() != FunctionsOf(call).size() ||
      at.output >= functions[k]->signature().output_arg_size())
    return at;
  EST_ASSIGN_OR_RETURN(Scope* const called, Call(*outer, index, functions, k));
  for (Scope* const branch : {&scope, called}) {
    if (branch->condition.node >= 0) continue;
    const proto::NodeDef& of = branch->caller->nodes->Get(branch->call);
    EST_ASSIGN_OR_RETURN(branch->condition,
                         ResolveIn(*branch->caller, of.input(0), depth, nullptr));
  }
  if (scope.condition != called->condition) return at;
  // It has run when what reads the tensor runs.
  if (calls != nullptr) calls->push_back(at.node);
  return ResultOf(*called, at.output, depth, calls);
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
      EST_ASSIGN_OR_RETURN(const FlatTensor tensor,
                           ResolveIn(*scope.caller, call.input(input), depth + 1, calls));
      return IsBranchOp(call.op()) ? InSameBranch(scope, tensor, depth + 1, calls) : tensor;
    }
  }
  const auto found = scope.index->find(node);
  if (found == scope.index->end()) return NotFoundIn(scope.Where(), "node", node, *scope.index);
  return OutputOf(scope, found->second, output, depth, calls);
}

}  // namespace estimator
