#include "estimator/graphdef/update_order.h"

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "estimator/op_def/op_def.h"

namespace estimator {
namespace {

// Whether the result may share the memory of the operand.
bool IsAlias(const Node& node) { return node.op() == "IdentityN" || TraitsOf(node.op()).view; }

class Readers {
 public:
  explicit Readers(const Graph& graph)
      : consumers_(graph.nodes().size()), depends_(graph.nodes().size(), false) {
    // Nodes are created after their inputs, so one pass finds all that depends on an update.
    for (const auto& node : graph.nodes()) {
      for (const Tensor& input : node->inputs()) {
        const size_t from = Index(*input.node());
        consumers_[from].push_back(node.get());
        if (depends_[from] || IsUpdateRule(*input.node())) depends_[Index(*node)] = true;
      }
    }
  }

  // The nodes that read `variable`, sorted by id.
  //   rules: whether update rules of other variables count too.
  std::vector<const Node*> Of(const Node& variable, bool rules) const {
    std::vector<const Node*> readers, pending = {&variable};
    while (!pending.empty()) {
      const Node* value = pending.back();
      pending.pop_back();
      for (const Node* consumer : consumers_[Index(*value)]) {
        // What reads a view reads the memory of the variable, so it must run before the update too.
        // A branch, or a loop without a trip, may return what it reads.
        if (IsAlias(*consumer) || !consumer->functions().empty()) pending.push_back(consumer);
        if (IsAlias(*consumer)) continue;
        if (IsUpdateRule(*consumer) ? rules : !depends_[Index(*consumer)] && !IsAssign(*consumer)) {
          readers.push_back(consumer);
        }
      }
    }
    std::sort(readers.begin(), readers.end(),
              [](const Node* a, const Node* b) { return a->id() < b->id(); });
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    return readers;
  }

 private:
  static size_t Index(const Node& node) { return static_cast<size_t>(node.id()); }

  std::vector<std::vector<const Node*>> consumers_;
  std::vector<bool> depends_;  // whether node i depends on an update
};

}  // namespace

bool IsUpdateRule(const Node& node) {
  return absl::StartsWith(node.op(), "Apply") && node.num_outputs() > 0;
}

bool IsAssign(const Node& node) { return node.op() == "Assign" || node.op() == "AssignAdd"; }

const Node* StateVariable(const Node& rule, int k) {
  const Node* read = rule.input(k).node();
  if (read->op() == "VariableV2") return read;
  const bool reads = read->op() == "Identity" && read->input(0).node()->op() == "VariableV2";
  return reads ? read->input(0).node() : nullptr;
}

std::map<const Node*, std::vector<const Node*>> ReadersBeforeUpdates(const Graph& graph) {
  // The Assign of an initializer runs before any step and waits for nothing. The Assign of an
  // update rule's result comes after the rule, which waits for the readers.
  std::set<Tensor> initial_values;
  for (const Variable& variable : graph.variables())
    initial_values.insert(variable.initial_value());
  const Readers readers(graph);
  std::map<const Node*, std::vector<const Node*>> before;
  for (const auto& node : graph.nodes()) {
    std::vector<const Node*> variables;
    if (IsUpdateRule(*node)) {
      for (int k = 0; k < node->num_outputs(); ++k) variables.push_back(StateVariable(*node, k));
    } else if (IsAssign(*node) && initial_values.count(node->input(1)) == 0 &&
               !IsUpdateRule(*node->input(1).node())) {
      variables.push_back(node->input(0).node());
    }
    for (const Node* variable : variables) {
      if (variable == nullptr) continue;
      const std::vector<const Node*> of_this = readers.Of(*variable, /*rules=*/IsAssign(*node));
      before[node.get()].insert(before[node.get()].end(), of_this.begin(), of_this.end());
    }
  }
  return before;
}

}  // namespace estimator
