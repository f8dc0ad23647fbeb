#include "estimator/graphdef/import/branches.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "estimator/base/status.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {
namespace {

constexpr size_t kMaxContexts = 1 << 22;

void Add(const Branches::Context& more, Branches::Context& to) {
  for (const auto& [condition, side] : more) {
    const auto [found, is_new] = to.emplace(condition, side);
    if (!is_new && found->second != side) found->second = Branches::kNever;
  }
}

bool HasNever(const Branches::Context& context) {
  return std::any_of(context.begin(), context.end(),
                     [](const auto& of) { return of.second == Branches::kNever; });
}

}  // namespace

absl::StatusOr<Branches> Branches::Create(const FlatGraph& nodes, const std::vector<int>& sorted) {
  Branches branches(nodes);
  size_t total = 0;
  for (const int i : sorted) {
    const FlatNode& node = nodes.node(i);
    Context context;
    int& stage = branches.stages_[static_cast<size_t>(i)];
    const auto comes_after = [&](int from) {
      const int before = branches.StageOf(from);
      stage = std::max(stage, before + before % 2);
    };
    for (const FlatTensor& input : node.inputs) comes_after(input.node);
    for (const int control : node.controls) comes_after(control);
    if (IsMergeOp(node.op) || node.op == kSelectBranchOp) ++stage;
    if (node.op == kSelectBranchOp) branches.AddChoices(i);
    if (IsMergeOp(node.op)) {
      context = branches.Merged(i);
    } else {
      // A condition inside of a loop is that of a trip, and ends with it. So does that of an If.
      const size_t count = node.op == kLoopOp           ? node.inputs.size() / 2
                           : node.op == kSelectBranchOp ? 1
                                                        : node.inputs.size();
      for (size_t k = 0; k < count && k < node.inputs.size(); ++k)
        Add(branches.ContextOf(node.inputs[k]), context);
    }
    for (int at = i; nodes.node(at).branch >= 0; at = nodes.node(at).branch) {
      const int select = nodes.node(at).branch;
      if (!nodes.node(select).inputs.empty())
        Add({{branches.ConditionOf(select), nodes.node(at).side}}, context);
    }
    for (const int control : node.controls) {
      // The branches of a tf.cond in a function end with the call, which waits for all its nodes.
      if (node.op == kCallOp && absl::StartsWith(nodes.node(control).name, node.name + "/"))
        continue;
      if (nodes.node(control).loop == i || nodes.node(control).branch == i) continue;
      const auto found = branches.contexts_.find(control);
      if (found != branches.contexts_.end()) Add(found->second, context);
    }
    // Each node has a copy of its conditions, so their number grows with nodes times depth.
    total += context.size();
    if (total > kMaxContexts) return InvalidArgument("conditions (tf.cond) are nested too deeply");
    if (!context.empty()) branches.contexts_.emplace(i, std::move(context));
  }
  return branches;
}

// REQUIRES: it is a kSelectBranchOp with inputs.
FlatTensor Branches::ConditionOf(int select) const {
  // Two Cases of one index may have different numbers of functions.
  if (IsCaseOp(nodes_->node(select).def->op())) return {select, kChosen};
  return nodes_->BehindIdentities(nodes_->node(select).inputs[0]);
}

void Branches::AddChoices(int select) {
  const size_t num_inputs = nodes_->node(select).inputs.size();
  const auto num_sides = static_cast<size_t>(nodes_->NumBranches(select));
  if (num_inputs == 0 || (num_inputs - 1) % num_sides != 0) return;
  Choice& choice = choices_[select];
  choice.condition = ConditionOf(select);
  choice.num_outputs = (num_inputs - 1) / num_sides;
  for (size_t f = 0; f < num_sides; ++f) choice.first.push_back(1 + f * choice.num_outputs);
  // The first function of an If is that of side 1.
  if (choice.condition.output != kChosen) std::swap(choice.first[0], choice.first[1]);
}

Branches::Context Branches::ContextOf(FlatTensor tensor) const {
  Context context;
  const auto found = contexts_.find(tensor.node);
  if (found != contexts_.end()) context = found->second;
  const FlatNode& node = nodes_->node(tensor.node);
  if (IsSwitchOp(node.op) && node.inputs.size() == 2)
    // The Switches of one condition may read its predicate through different Identities.
    Add({{nodes_->BehindIdentities(node.inputs[1]), tensor.output == 0 ? 0 : 1}}, context);
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
  // The functions of a Case end with it.
  for (const auto& [condition, side] : first) {
    const auto other = second.find(condition);
    if (other == second.end() || other->second == side || condition.output == kChosen) continue;
    ++opposite;
    predicate = &condition;
    first_is_true = side == 1 || other->second == 0;
  }
  if (opposite == 0) {
    for (const auto& [condition, side] : first) {
      if (second.count(condition) > 0 || condition.output == kChosen) continue;
      ++single;
      predicate = &condition;
      first_is_true = side == 1;
    }
    for (const auto& [condition, side] : second) {
      if (first.count(condition) > 0 || condition.output == kChosen) continue;
      ++single;
      predicate = &condition;
      first_is_true = side == 0;
    }
  }
  // With several candidates the selecting condition is unknown. The import then refuses
  // a Merge of two values.
  if (opposite == 1 || (opposite == 0 && single == 1)) {
    const size_t if_true = first_is_true ? 0 : 1;
    choices_[merge] = {.condition = *predicate, .first = {1 - if_true, if_true}};
  }
  if (HasNever(first)) return second;
  if (HasNever(second)) return first;
  // A Merge runs whichever side is taken, so only the conditions that both sides need remain.
  Context both;
  for (const auto& [condition, side] : first) {
    const auto other = second.find(condition);
    if (other != second.end() && other->second == side) both.emplace(condition, side);
  }
  return both;
}

const Branches::Choice* Branches::ChoiceOf(int node) const {
  const auto found = choices_.find(node);
  return found == choices_.end() ? nullptr : &found->second;
}

const Branches::Context& Branches::ConditionsOf(int node) const {
  static const auto* const kNone = new Context;
  const auto found = contexts_.find(node);
  return found == contexts_.end() ? *kNone : found->second;
}

bool Branches::NeverRuns(int node) const { return HasNever(ConditionsOf(node)); }

bool Branches::IsConditional(int node) const { return contexts_.count(node) > 0; }

}  // namespace estimator
