#include "estimator/runtime/lower.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/graph/function.h"
#include "estimator/graph/op_registry.h"

namespace estimator::ir {
namespace {

using GraphNode = ::estimator::Node;

absl::string_view TwiceAssignedCure(absl::string_view variable) {
  if (variable != "global_step") return "only several AssignAdds of one variable can be combined";
  return "Minimize and ApplyGradients add 1 to it: remove your own Assign, or pass "
         "{.increment_global_step = false} to them";
}

class Importer {
 public:
  //   prefix: of the names of nodes.
  explicit Importer(const Graph& graph, std::string prefix = "")
      : graph_(graph), prefix_(std::move(prefix)), index_(graph.nodes().size(), -1) {}

  absl::StatusOr<Module> Run(const ProgramSpec& spec) {
    for (const Tensor& feed : spec.feeds) EST_RETURN_IF_ERROR(Check(feed, "a feed"));
    for (const Tensor& fetch : spec.fetches) EST_RETURN_IF_ERROR(Check(fetch, "a fetch"));
    const std::vector<GraphNode*> assigns = CollectAssigns(spec.updates);
    // The feeds come first, because any node may read them.
    AddFeeds(spec.feeds);
    EST_RETURN_IF_ERROR(AddNodes(Needed(spec, assigns)));
    // All are named at once. Those that the step does not need may stay without a value.
    if (!unfed_.empty()) {
      return InvalidArgument("the step needs ",
                             unfed_.size() == 1 ? "a placeholder that is" : "placeholders that are",
                             " not fed: ", absl::StrJoin(unfed_, ", "));
    }
    for (const Tensor& fetch : spec.fetches) module_.fetches.push_back(At(fetch));
    module_.fetch_groups = spec.fetch_groups;
    module_.fetch_groups.resize(module_.fetches.size(), 0);
    EST_RETURN_IF_ERROR(AddUpdates(assigns));
    Compact(module_);
    return std::move(module_);
  }

 private:
  absl::Status Check(const Tensor& tensor, absl::string_view what) const {
    if (!tensor.valid()) return InvalidArgument(what, " of the step is not a valid tensor");
    if (tensor.graph() == &graph_) return absl::OkStatus();
    return InvalidArgument(what, " of the step, ", tensor.name(), ", belongs to another graph");
  }

  Value At(const Tensor& tensor) const {
    const auto fed = feeds_.find(tensor);
    if (fed != feeds_.end()) return fed->second;
    return {ir::At(index_, tensor.node()->id()), tensor.output()};
  }

  void AddFeeds(const std::vector<Tensor>& feeds) {
    for (size_t f = 0; f < feeds.size(); ++f) {
      feeds_.emplace(feeds[f], module_.Add({.kind = Node::Kind::kFeed,
                                            .op = "Placeholder",
                                            .name = prefix_ + feeds[f].node()->name(),
                                            .outputs = {feeds[f].spec()},
                                            .index = static_cast<int>(f)}));
      module_.feed_names.push_back(feeds[f].name());
      module_.feeds.push_back(feeds[f].spec());
    }
  }

  std::vector<char> Needed(const ProgramSpec& spec, const std::vector<GraphNode*>& assigns) const {
    std::vector<char> needed(index_.size(), 0);
    std::vector<const GraphNode*> stack;
    const auto visit = [&](const Tensor& tensor) {
      // A fed tensor needs none of its inputs.
      if (feeds_.count(tensor) > 0) return;
      char& seen = ir::At(needed, tensor.node()->id());
      if (!std::exchange(seen, 1)) stack.push_back(tensor.node());
    };
    for (const Tensor& fetch : spec.fetches) visit(fetch);
    for (const GraphNode* assign : assigns) {
      // An Assign becomes an update and no node, so only its inputs are needed.
      for (const Tensor& input : assign->inputs()) visit(input);
    }
    while (!stack.empty()) {
      const GraphNode* node = stack.back();
      stack.pop_back();
      for (const Tensor& input : node->inputs()) visit(input);
    }
    return needed;
  }

  absl::Status AddNodes(const std::vector<char>& needed) {
    // A node is created after its inputs, so the order of creation is a topological one.
    for (size_t id = 0; id < needed.size(); ++id) {
      if (!needed[id]) continue;
      const GraphNode& from = *graph_.nodes()[id];
      Node node;
      node.op = from.op();
      // The nodes of an imported function have the name of its node already.
      node.name = absl::StartsWith(from.name(), prefix_) ? from.name() : prefix_ + from.name();
      node.outputs = from.outputs();
      node.stateful = from.rules().stateful;
      if (from.op() == "Const") {
        node.kind = Node::Kind::kConstant;
        node.constant = from.attrs().get<Array>("value");
      } else if (from.op() == "VariableV2") {
        node.kind = Node::Kind::kVariable;
        node.index = VariableIndex(from);
      } else {
        if (from.op() == "Placeholder") {
          unfed_.push_back(absl::StrCat(from.name(), " (", from.outputs()[0].ToString(), ")"));
        }
        node.attrs = from.attrs();
      }
      for (const Tensor& input : from.inputs()) node.inputs.push_back(At(input));
      // The replicas need not run the same trips and branches, and would wait for each other.
      if (from.op() == "CrossReplicaSum" && graph_.outer() != nullptr) {
        return Unimplemented(node.name,
                             ": a sum over replicas inside a loop or a branch; return the value "
                             "from it, and sum that (of an optimizer in a Cond: compute the loss "
                             "outside)");
      }
      EST_RETURN_IF_ERROR(AddFunctions(from, node));
      index_[id] = module_.Add(std::move(node)).node;
    }
    return absl::OkStatus();
  }

  static absl::Status AddFunctions(const GraphNode& from, Node& node) {
    for (const auto& function : from.functions()) {
      node.functions.push_back(nullptr);
      if (function == nullptr) continue;
      const bool repeats = from.op() == kWhileOp, is_body = repeats && node.functions.size() == 2;
      Tensors results = function->results();
      // What the loop does not return is not needed. One output is the number of trips.
      if (is_body) results.resize(std::min(results.size(), node.outputs.size() - 1));
      EST_ASSIGN_OR_RETURN(
          Module body, Importer(function->graph(), node.name + "/")
                           .Run({.feeds = function->inputs(), .fetches = results, .updates = {}}));
      body.num_parameters = static_cast<int>(function->parameters().size());
      body.repeats = repeats;
      if (is_body) body.num_carried = static_cast<int>(from.attrs().i("num_carried"));
      node.functions.back() = std::make_shared<Module>(std::move(body));
    }
    return absl::OkStatus();
  }

  int VariableIndex(const GraphNode& node) {
    const auto [it, is_new] =
        variables_.emplace(node.name(), static_cast<int>(module_.variables.size()));
    if (is_new) module_.variables.push_back({node.name(), node.outputs()[0]});
    return it->second;
  }

  absl::Status AddUpdates(const std::vector<GraphNode*>& assigns) {
    std::map<int, size_t> by_variable;  // variable -> index of its update
    std::map<int, std::string> assigned;
    for (const GraphNode* assign : assigns) {
      const GraphNode& variable = *assign->input(0).node();
      const int index = VariableIndex(variable);
      const Value value = At(assign->input(1));
      const auto [it, is_new] = by_variable.emplace(index, module_.updates.size());
      const bool adds = assign->op() == "AssignAdd";
      if (!is_new && (!adds || assigned.count(index) > 0)) {
        return InvalidArgument("variable '", variable.name(),
                               "' is assigned twice in one step, by ",
                               module_.updates[it->second].name, " and ", assign->name(), "; ",
                               TwiceAssignedCure(variable.name()));
      }
      if (!adds) assigned.emplace(index, assign->name());
      // An AssignAdd begins with the value from before the step.
      if (is_new)
        module_.updates.push_back({index, adds ? At(assign->input(0)) : value, assign->name()});
      if (!adds) continue;
      // AssignAdds are chained: each adds to the variable's value, or to the sum of those before
      // it.
      Value& sum = module_.updates[it->second].value;
      sum = module_.Add({.op = "AddV2",
                         .name = assign->name(),
                         .attrs = {{"T", variable.outputs()[0].dtype}},
                         .inputs = {sum, value},
                         .outputs = {variable.outputs()[0]}});
    }
    return absl::OkStatus();
  }

  const Graph& graph_;
  const std::string prefix_;
  Module module_;
  std::vector<int> index_;         // id of a graph node -> its number in the module, or -1
  std::map<Tensor, Value> feeds_;  // fed tensor -> its node
  std::map<std::string, int> variables_;
  std::vector<std::string> unfed_;
};

}  // namespace

absl::StatusOr<Module> Lower(const Graph& graph, const ProgramSpec& spec) {
  EST_RETURN_IF_ERROR(graph.status());
  return Importer(graph).Run(spec);
}

}  // namespace estimator::ir
