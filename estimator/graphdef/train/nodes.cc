#include "estimator/graphdef/train/nodes.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/graphdef/import_output_args.h"
#include "estimator/graphdef/train/rules.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {
namespace {

// Limits for a malformed file, whose functions may call each other in a cycle.
constexpr int kMaxDepth = 32;
constexpr size_t kMaxNodes = 1 << 19;
constexpr size_t kMaxInputs = 1 << 22;  // of all inlined nodes together

class Inliner {
 public:
  Inliner(const proto::GraphDef& graph_def, std::vector<TrainNode>& nodes,
          std::vector<std::unique_ptr<proto::NodeDef>>& inlined)
      : graph_def_(graph_def), nodes_(nodes), inlined_(inlined) {}

  absl::Status Run() {
    for (const proto::FunctionDef& function : graph_def_.library().function())
      functions_.emplace(function.signature().name(), &function);
    for (const proto::NodeDef& node : graph_def_.node()) EST_RETURN_IF_ERROR(Add(node, {}));
    return absl::OkStatus();
  }

 private:
  struct Place {
    int depth = 0;
    bool in_branch = false;
  };

  const proto::FunctionDef* Function(absl::string_view name) const {
    const auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : found->second;
  }
  const proto::FunctionDef* FunctionOf(const proto::NodeDef& node, const char* attr) const {
    const auto found = node.attr().find(attr);
    return found == node.attr().end() ? nullptr : Function(found->second.func().name());
  }
  const proto::FunctionDef* Called(const proto::NodeDef& node) const {
    const bool call = node.op() == "PartitionedCall" || node.op() == "StatefulPartitionedCall";
    return call ? FunctionOf(node, "f") : Function(node.op());
  }

  proto::NodeDef* NewNode() {
    inlined_.push_back(std::make_unique<proto::NodeDef>());
    return inlined_.back().get();
  }

  // Adds a node whose inputs are names of the whole graph, or what replaces it.
  absl::Status Add(const proto::NodeDef& node, Place place) {
    if (nodes_.size() >= kMaxNodes || num_inputs_ >= kMaxInputs) {
      return absl::InvalidArgumentError(absl::StrCat("the graph has more than ", kMaxNodes,
                                                     " nodes or ", kMaxInputs,
                                                     " inputs when functions are inlined"));
    }
    num_inputs_ += static_cast<size_t>(node.input_size());
    const bool is_if = node.op() == "If" || node.op() == "StatelessIf";
    const proto::FunctionDef* const function =
        is_if ? FunctionOf(node, "then_branch") : Called(node);
    const proto::FunctionDef* const other = is_if ? FunctionOf(node, "else_branch") : nullptr;
    if (function == nullptr || (is_if && (other == nullptr || node.input_size() == 0))) {
      nodes_.push_back({.name = node.name(),
                        .def = &node,
                        .inputs = {},
                        .controls = {},
                        .in_branch = place.in_branch});
      return absl::OkStatus();
    }
    if (place.depth >= kMaxDepth) {
      return absl::InvalidArgumentError(absl::StrCat("function '", function->signature().name(),
                                                     "' is called through more than ", kMaxDepth,
                                                     " functions"));
    }
    const Place inside = {place.depth + 1, place.in_branch || is_if};
    proto::NodeDef* const result = NewNode();
    result->set_name(node.name());
    result->set_op(is_if ? kSelectBranchOp : "IdentityN");
    if (is_if) result->add_input(node.input(0));
    EST_RETURN_IF_ERROR(Inline(node, *function, is_if ? "/then/" : "/", inside, result));
    if (is_if) EST_RETURN_IF_ERROR(Inline(node, *other, "/else/", inside, result));
    // Control inputs come last in a NodeDef, but nothing here depends on it.
    nodes_.push_back({.name = result->name(),
                      .def = result,
                      .inputs = {},
                      .controls = {},
                      .in_branch = place.in_branch});
    return absl::OkStatus();
  }

  // Adds the body of `function`, and its results to the inputs of `result`.
  absl::Status Inline(const proto::NodeDef& call, const proto::FunctionDef& function,
                      absl::string_view separator, Place inside, proto::NodeDef* result) {
    const std::string prefix = absl::StrCat(call.name(), separator);
    const int first = call.op() == "If" || call.op() == "StatelessIf" ? 1 : 0;
    std::map<absl::string_view, std::string> args;
    for (int i = 0; i < function.signature().input_arg_size(); ++i) {
      const std::string& name = function.signature().input_arg(i).name();
      if (i + first >= call.input_size() || absl::StartsWith(call.input(i + first), "^")) {
        return absl::InvalidArgumentError(absl::StrCat("'", call.name(), "' calls function '",
                                                       function.signature().name(),
                                                       "' without its argument '", name, "'"));
      }
      args.emplace(name, call.input(i + first));
    }
    std::map<absl::string_view, const proto::NodeDef*> body;
    for (const proto::NodeDef& node : function.node_def()) body.emplace(node.name(), &node);

    const auto renamed = [&](absl::string_view input) -> absl::StatusOr<std::string> {
      const size_t colon = input.find(':');
      const absl::string_view name = input.substr(0, colon);
      const auto arg = args.find(name);
      if (arg != args.end()) return arg->second;
      const auto from = body.find(name);
      if (from == body.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("function '", function.signature().name(), "' has no node '", name, "'"));
      }
      int number = 0;
      if (colon != absl::string_view::npos) {
        EST_ASSIGN_OR_RETURN(number, OutputNumber(*from->second, input.substr(colon + 1)));
        if (number < 0)
          return absl::InvalidArgumentError(absl::StrCat("'", input, "' is not an output"));
      }
      return absl::StrCat(prefix, name, ":", number);
    };
    for (const proto::NodeDef& node : function.node_def()) {
      proto::NodeDef* const copy = NewNode();
      *copy = node;
      copy->set_name(absl::StrCat(prefix, node.name()));
      copy->clear_input();
      for (const std::string& input : node.input()) {
        if (absl::StartsWith(input, "^")) {
          if (body.count(absl::string_view(input).substr(1)) > 0)
            copy->add_input(absl::StrCat("^", prefix, input.substr(1)));
          continue;
        }
        EST_ASSIGN_OR_RETURN(std::string from, renamed(input));
        copy->add_input(std::move(from));
      }
      for (const std::string& input : call.input())
        if (absl::StartsWith(input, "^")) copy->add_input(input);
      EST_RETURN_IF_ERROR(Add(*copy, inside));
    }
    for (const auto& arg : function.signature().output_arg()) {
      const auto ret = function.ret().find(arg.name());
      if (ret == function.ret().end()) {
        return absl::InvalidArgumentError(absl::StrCat("function '", function.signature().name(),
                                                       "' has no `ret` entry for '", arg.name(),
                                                       "'"));
      }
      EST_ASSIGN_OR_RETURN(std::string from, renamed(ret->second));
      result->add_input(std::move(from));
    }
    // What runs after the call runs after all of its body.
    for (const proto::NodeDef& node : function.node_def())
      result->add_input(absl::StrCat("^", prefix, node.name()));
    return absl::OkStatus();
  }

  const proto::GraphDef& graph_def_;
  std::vector<TrainNode>& nodes_;
  std::vector<std::unique_ptr<proto::NodeDef>>& inlined_;
  std::map<absl::string_view, const proto::FunctionDef*> functions_;
  size_t num_inputs_ = 0;
};

}  // namespace

TrainNodes::~TrainNodes() = default;

absl::StatusOr<std::unique_ptr<TrainNodes>> TrainNodes::Create(const proto::GraphDef& graph_def) {
  auto nodes = absl::WrapUnique(new TrainNodes());
  EST_RETURN_IF_ERROR(Inliner(graph_def, nodes->nodes_, nodes->inlined_).Run());
  EST_RETURN_IF_ERROR(nodes->Connect());
  return nodes;
}

absl::Status TrainNodes::Connect() {
  for (int i = 0; i < size(); ++i) {
    if (!index_.emplace(node(i).name, i).second) {
      return absl::InvalidArgumentError(absl::StrCat("two nodes are called '", node(i).name, "'"));
    }
  }
  for (TrainNode& to : nodes_) {
    if (IsTrainInputOp(to.def->op())) continue;  // the iterator or queue stays behind
    for (const std::string& input : to.def->input()) {
      if (absl::StartsWith(input, "^")) {
        const int from = FindNode(absl::string_view(input).substr(1));
        if (from < 0) {
          return absl::InvalidArgumentError(absl::StrCat(
              "node '", to.name, "' has the control input '", input, "', which does not exist"));
        }
        to.controls.push_back(from);
        continue;
      }
      const absl::StatusOr<FlatTensor> from = Find(input);
      if (!from.ok()) return Annotate(from.status(), absl::StrCat("node '", to.name, "'"));
      to.inputs.push_back(*from);
    }
  }
  return absl::OkStatus();
}

const std::string& TrainNodes::op(int i) const { return node(i).def->op(); }

std::string TrainNodes::Where(int i) const {
  return absl::StrCat("'", node(i).name, "' (", op(i), ")");
}

int TrainNodes::FindNode(absl::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? -1 : found->second;
}

absl::StatusOr<FlatTensor> TrainNodes::Find(absl::string_view name) const {
  const size_t colon = name.rfind(':');
  FlatTensor tensor{FindNode(name.substr(0, colon)), 0};
  const bool number =
      colon == absl::string_view::npos ||
      (absl::SimpleAtoi(name.substr(colon + 1), &tensor.output) && tensor.output >= 0);
  if (tensor.node >= 0 && number) return tensor;
  std::vector<std::string> names;
  if (index_.size() < 10000)
    for (const auto& [other, i] : index_) names.emplace_back(other);
  const std::optional<std::string> nearest = NearestName(name.substr(0, colon), names);
  return absl::InvalidArgumentError(
      absl::StrCat("the graph has no tensor '", name, "'",
                   nearest.has_value() ? absl::StrCat("; did you mean '", *nearest, "'?") : ""));
}

absl::StatusOr<std::vector<int>> TrainNodes::Sorted(const std::vector<int>& roots,
                                                    bool controls) const {
  enum class State : char { kNew, kOpen, kDone };
  std::vector<State> states(nodes_.size(), State::kNew);
  std::vector<std::pair<int, size_t>> stack;  // node, its next input
  std::vector<int> order;
  for (const int root : roots) {
    if (states[static_cast<size_t>(root)] != State::kNew) continue;
    stack.emplace_back(root, 0);
    states[static_cast<size_t>(root)] = State::kOpen;
    while (!stack.empty()) {
      const int at = stack.back().first;
      const TrainNode& from = node(at);
      const size_t next = stack.back().second++;
      const size_t count = from.inputs.size() + (controls ? from.controls.size() : 0);
      if (next == count) {
        states[static_cast<size_t>(at)] = State::kDone;
        order.push_back(at);
        stack.pop_back();
        continue;
      }
      const int input = next < from.inputs.size() ? from.inputs[next].node
                                                  : from.controls[next - from.inputs.size()];
      State& state = states[static_cast<size_t>(input)];
      if (state == State::kOpen)
        return absl::InvalidArgumentError(absl::StrCat(Where(input), " depends on itself"));
      if (state == State::kDone) continue;
      state = State::kOpen;
      stack.emplace_back(input, 0);
    }
  }
  return order;
}

std::vector<int> TrainNodes::Reached(const std::vector<int>& roots, bool controls) const {
  std::vector<bool> seen(nodes_.size(), false);
  std::vector<int> reached, pending = roots;
  while (!pending.empty()) {
    const int at = pending.back();
    pending.pop_back();
    if (seen[static_cast<size_t>(at)]) continue;
    seen[static_cast<size_t>(at)] = true;
    reached.push_back(at);
    for (const FlatTensor& input : node(at).inputs) pending.push_back(input.node);
    if (!controls) continue;
    pending.insert(pending.end(), node(at).controls.begin(), node(at).controls.end());
  }
  return reached;
}

}  // namespace estimator
