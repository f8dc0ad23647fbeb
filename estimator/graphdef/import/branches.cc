#include "estimator/graphdef/import/branches.h"

#include <utility>

#include "estimator/base/status.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {
namespace {

constexpr size_t kMaxContexts = 1 << 22;

}  // namespace

absl::StatusOr<Branches> Branches::Create(const FlatGraph& nodes, const std::vector<int>& sorted) {
  Branches branches(nodes);
  size_t total = 0;
  for (const int i : sorted) {
    const FlatNode& node = nodes.node(i);
    Context context;
    if (IsMergeOp(node.op)) {
      context = branches.Merged(i);
    } else {
      // A condition inside of a loop is that of a trip, and ends with it. So does that of an If.
      const size_t count = node.op == kLoopOp           ? node.inputs.size() / 2
                           : node.op == kSelectBranchOp ? 1
                                                        : node.inputs.size();
      for (size_t k = 0; k < count && k < node.inputs.size(); ++k)
        context.merge(branches.ContextOf(node.inputs[k]));
    }
    for (int at = i; nodes.node(at).branch >= 0; at = nodes.node(at).branch) {
      const int select = nodes.node(at).branch;
      if (!nodes.node(select).inputs.empty())
        context[branches.ConditionOf(select)] = nodes.node(at).side;
    }
    for (const int control : node.controls) {
      if (nodes.node(control).loop == i || nodes.node(control).branch == i) continue;
      const auto found = branches.contexts_.find(control);
      if (found != branches.contexts_.end())
        context.insert(found->second.begin(), found->second.end());
    }
    // Each node has a copy of its conditions, so their number grows with nodes times depth.
    total += context.size();
    if (total > kMaxContexts) return InvalidArgument("conditions (tf.cond) are nested too deeply");
    if (!context.empty()) branches.contexts_.emplace(i, std::move(context));
  }
  return branches;
}

FlatTensor Branches::ConditionOf(int select) const {
  // Two Cases of one index may have different numbers of functions.
  if (IsCaseOp(nodes_->node(select).def->op())) return {select, kChosen};
  return nodes_->BehindIdentities(nodes_->node(select).inputs[0]);
}

Branches::Context Branches::ContextOf(FlatTensor tensor) const {
  Context context;
  const auto found = contexts_.find(tensor.node);
  if (found != contexts_.end()) context = found->second;
  const FlatNode& node = nodes_->node(tensor.node);
  if (IsSwitchOp(node.op) && node.inputs.size() == 2)
    // The Switches of one condition may read its predicate through different Identities.
    context[nodes_->BehindIdentities(node.inputs[1])] = tensor.output == 0 ? 0 : 1;
  return context;
}

Branches::Context Branches::Merged(int merge) {
  const FlatNode& node = nodes_->node(merge);
  if (node.inputs.size() != 2) return {};
  const Context first = ContextOf(node.inputs[0]), second = ContextOf(node.inputs[1]);
  // A condition that both inputs depend on, with different sides; else the only one that one of
  // them depends on.
  const FlatTensor* predicate = nullptr;
  bool first_is_true = false;
  int opposite = 0, single = 0;
  for (const auto& [condition, side] : first) {
    const auto other = second.find(condition);
    if (other == second.end() || other->second == side) continue;
    ++opposite;
    predicate = &condition;
    first_is_true = side == 1;
  }
  if (opposite == 0) {
    for (const auto& [condition, side] : first) {
      if (second.count(condition) > 0) continue;
      ++single;
      predicate = &condition;
      first_is_true = side == 1;
    }
    for (const auto& [condition, side] : second) {
      if (first.count(condition) > 0) continue;
      ++single;
      predicate = &condition;
      first_is_true = side == 0;
    }
  }
  // With several candidates the selecting condition is unknown. The import then refuses the Merge.
  if (opposite == 1 || (opposite == 0 && single == 1)) {
    choices_[merge] = {.predicate = *predicate,
                       .if_true = first_is_true ? size_t{0} : size_t{1},
                       .if_false = first_is_true ? size_t{1} : size_t{0}};
  }
  // A Merge runs whichever side is taken, so only the conditions that both sides need remain.
  Context both;
  for (const auto& [condition, side] : first) {
    const auto other = second.find(condition);
    if (other != second.end() && other->second == side) both.emplace(condition, side);
  }
  return both;
}

const Branches::Choice* Branches::ChoiceOf(int merge) const {
  const auto found = choices_.find(merge);
  return found == choices_.end() ? nullptr : &found->second;
}

const Branches::Context& Branches::ConditionsOf(int node) const {
  static const auto* const kNone = new Context;
  const auto found = contexts_.find(node);
  return found == contexts_.end() ? *kNone : found->second;
}

bool Branches::IsConditional(int node) const { return contexts_.count(node) > 0; }

}  // namespace estimator
