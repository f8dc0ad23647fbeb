#include "estimator/graphdef/import/branches/branch_bodies.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/import/write_rules.h"
#include "estimator/graphdef/node_attr.h"
#include "estimator/graphdef/tensor_proto.h"
#include "estimator/op_def/op_def.h"

namespace estimator {
namespace {

constexpr int kUnread = -2;
constexpr int64_t kMaxLimitBytes = 64;
constexpr size_t kMaxNested = 20;  // bodies in each other: a limit for a malformed file

// Whether selecting costs less than a branch, and the node cannot fail. How many elements it has is
// often not known here, so they do not count.
bool IsCheap(const FlatNode& node) {
  if (PassesReference(node.op) || IsSwitchOp(node.op) || IsMergeOp(node.op) ||
      IsOneOf(node.op, {"Const", "Fill", "OptionalFromValue", "OptionalGetValue", "OptionalNone",
                        "Rank", "ReadVariableOp", "Shape", "ShapeN", "Size", kSelectBranchOp}))
    return true;
  const OpTraits& traits = TraitsOf(node.op);
  if (traits.view || !traits.elementwise) return traits.view;
  const proto::AttrValue* const type = FindAttr(*node.def, "T");
  return traits.failure == OpTraits::Failure::kNever ||
         (traits.failure == OpTraits::Failure::kNeverOfFloats && type != nullptr &&
          IsFloating(ReadDType(type->type())));
}

class BodyFinder {
 public:
  BodyFinder(const FlatGraph& nodes, const Branches& branches, const VariableOrder& order,
             const std::vector<bool>& needed, bool average_gradients)
      : nodes_(nodes), branches_(branches), order_(order), average_gradients_(average_gradients) {
    for (auto i = order.sorted().rbegin(); i != order.sorted().rend(); ++i) {
      if (!needed[static_cast<size_t>(*i)]) continue;
      readers_first_.push_back(*i);
      if (nodes.op(*i) == kLoopOp) outer_loops_.insert(nodes.node(*i).loop);
    }
  }

  BranchBodies Run(const std::vector<FlatTensor>& results) {
    Find(results);
    FindWorthwhile();
    Find(results);
    found_.read.insert(results.begin(), results.end());
    AddMembers();
    return std::move(found_);
  }

 private:
  using ReadFn = std::function<void(FlatTensor from, int body)>;

  int& body_of(int node) { return found_.body_of[static_cast<size_t>(node)]; }
  BranchBodies::Body& body(int i) { return found_.bodies[static_cast<size_t>(i)]; }
  BranchBodies::Group& group(int of_body) {
    return found_.groups[static_cast<size_t>(body(of_body).group)];
  }
  int Parent(int i) { return body_of(group(i).chosen[0]); }
  int StageOf(int i) { return branches_.StageOf(group(i).chosen[0]); }
  // The condition and the side of it for which the body runs.
  std::pair<FlatTensor, int> CaseOf(int i) {
    return {branches_.ChoiceOf(group(i).chosen[0])->condition, body(i).side};
  }

  // A body and those around it, from the outermost one on.
  std::vector<int> PathTo(int i) {
    std::vector<int> path;
    for (; i >= 0; i = Parent(i)) path.push_back(i);
    return {path.rbegin(), path.rend()};
  }

  // Whether body `outer` is `inner` or around it. Everything is in -1.
  bool IsAround(int outer, int inner) {
    while (inner >= 0 && inner != outer) inner = Parent(inner);
    return outer < 0 || inner == outer;
  }

  void Find(const std::vector<FlatTensor>& results) {
    found_ = {};
    found_.body_of.assign(static_cast<size_t>(nodes_.size()), kUnread);
    in_cond_.assign(static_cast<size_t>(nodes_.size()), false);
    groups_by_key_.clear();
    for (const FlatTensor& result : results) body_of(result.node) = -1;
    // All that read a node are known when it is reached.
    for (const int i : readers_first_) {
      body_of(i) = Allowed(i);
      AddGroup(i);
      ForEachRead(i, [this](FlatTensor from, int by) {
        // A constant or a variable is captured.
        const bool passes =
            !IsOneOf(nodes_.op(from.node), {"Const", "ReadVariableOp"}) && !GivesList(from);
        int& home = body_of(from.node);
        home = home == kUnread ? by : Common(home, by, passes);
      });
    }
    for (int& home : found_.body_of) home = std::max(home, -1);
  }

  // Leaves only groups with a node that is not cheap, and those that read what such a group passes.
  void FindWorthwhile() {
    std::set<int> groups;
    const auto add = [&](int at) {
      for (; at >= 0; at = Parent(at)) groups.insert(body(at).group);
    };
    for (const int i : readers_first_)
      if (!IsCheap(nodes_.node(i))) add(body_of(i));
    for (size_t before = 0; before < groups.size();) {
      before = groups.size();
      for (auto i = readers_first_.rbegin(); i != readers_first_.rend(); ++i) {
        ForEachRead(*i, [&](FlatTensor from, int by) {
          const int home = body_of(from.node);
          if (!IsAround(home, by) && groups.count(body(home).group) > 0) add(by);
        });
      }
    }
    for (const auto& [chosen, group] : found_.group_of)
      if (groups.count(group) == 0) cheap_.insert(chosen);
  }

  // Calls `read` with each tensor that a node reads, and the body that reads it.
  void ForEachRead(int reader, const ReadFn& read) {
    const FlatNode& node = nodes_.node(reader);
    const auto call = [&](FlatTensor from, int by) {
      if (nodes_.IsGiven(from)) return;
      const FlatNode& giver = nodes_.node(from.node);
      if (giver.loop != node.loop) {
        // A loop reads what its nodes read of the graph around it. Its results are read at the end
        // of its body.
        int loop = node.loop;
        while (loop >= 0 && nodes_.node(loop).loop != giver.loop) loop = nodes_.node(loop).loop;
        by = loop < 0 ? -1 : body_of(loop);
      }
      if (average_gradients_ && IsGradientName(giver.name) && !IsGradientName(node.name)) by = -1;
      read(from, by);
    };
    const Branches::Choice* const choice = branches_.ChoiceOf(reader);
    const BranchBodies::Group* const of = found_.GroupOf(reader);
    for (size_t side = 0; of != nullptr && side < choice->first.size(); ++side) {
      for (size_t k = 0; k < choice->num_outputs; ++k)
        call(node.inputs[choice->first[side] + k], of->bodies[side]);
    }
    for (size_t k = 0; of == nullptr && k < node.inputs.size(); ++k)
      call(node.inputs[k], body_of(reader));
    if (choice != nullptr) call(branches_.SelectorOf(choice->condition), body_of(reader));
    if (FindWriteRule(node.op) == nullptr) return;
    for (const auto& [condition, side] : branches_.ConditionsOf(reader))
      call(branches_.SelectorOf(condition), -1);
  }

  // The innermost body whose values both bodies can read.
  //   passes: whether a body may pass them to later ones of the same condition and side.
  int Common(int a, int b, bool passes) {
    if (a == b) return a;
    const std::vector<int> path_a = PathTo(a), path_b = PathTo(b);
    const std::vector<int>* earlier = nullptr;
    int common = -1;
    for (size_t k = 0; k < std::min(path_a.size(), path_b.size()); ++k) {
      if (earlier == nullptr && path_a[k] != path_b[k]) {
        const int difference = StageOf(path_a[k]) - StageOf(path_b[k]);
        if (!passes || difference == 0) break;
        earlier = difference < 0 ? &path_a : &path_b;
      }
      if (earlier != nullptr && CaseOf(path_a[k]) != CaseOf(path_b[k])) break;
      common = earlier == nullptr ? path_a[k] : (*earlier)[k];
    }
    return common;
  }

  // The body for a node: around all that read it, and of the node's own conditions.
  int Allowed(int i) {
    const FlatNode& node = nodes_.node(i);
    // The caller of NodeBuilder adds these, and a Where is read again for the labels of a CTCLoss.
    if (body_of(i) < 0 || IsVariableOp(node.op) || FindWriteRule(node.op) != nullptr ||
        node.parsed_feature != nullptr || IsParseExampleOp(node.op) ||
        IsOneOf(node.op, {kLoopArgOp, "Where"}))
      return -1;
    const auto behind = [this](FlatTensor input) { return nodes_.BehindIdentities(input); };
    if (node.op == kLoopOp && std::any_of(node.inputs.begin(), node.inputs.end(),
                                          [&](auto input) { return GivesList(behind(input)); }))
      return -1;
    if (node.op == "Const") return body_of(i);
    const Branches::Context& conditions = branches_.ConditionsOf(i);
    int allowed = -1;
    for (const int around : PathTo(body_of(i))) {
      const auto [condition, side] = CaseOf(around);
      const auto found = conditions.find(condition);
      if (found == conditions.end() || (found->second != side && found->second != Branches::kNever))
        break;
      allowed = around;
    }
    return allowed;
  }

  // Whether a loop gives a list that no body can be given: its largest size is not known, or its
  // elements are lists.
  bool GivesList(FlatTensor from) {
    const FlatNode& loop = nodes_.node(from.node);
    const auto output = static_cast<size_t>(from.output);
    if (loop.op != kLoopOp || nodes_.IsGiven(from) || output >= loop.inputs.size()) return false;
    const FlatNode& list = nodes_.node(nodes_.BehindIdentities(loop.inputs[output]).node);
    if (!IsOneOf(list.op, {"EmptyTensorList", "Stack", "StackV2"})) return false;
    if (outer_loops_.count(from.node) > 0 || list.inputs.empty()) return true;
    const FlatNode& size = nodes_.node(nodes_.BehindIdentities(list.inputs.back()).node);
    const proto::AttrValue* const value = FindAttr(*size.def, "value");
    if (size.op != "Const" || value == nullptr) return false;
    const absl::StatusOr<Array> limit = ReadTensorProto(value->tensor(), kMaxLimitBytes);
    return !limit.ok() || !IsInteger(limit->dtype()) || limit->num_elements() != 1 ||
           limit->AsDouble() < 0;
  }

  void AddGroup(int i) {
    const FlatNode& node = nodes_.node(i);
    // The nodes of a condition of TensorFlow 1 may also be those of the body, but not their group.
    const bool in_cond = in_cond_[static_cast<size_t>(i)];
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const int from = node.inputs[k].node, loop = nodes_.node(from).loop;
      const bool is_cond = node.def->op() == "LoopCond" && k == node.inputs.size() / 2 && loop == i;
      if (is_cond || (in_cond && loop == node.loop)) in_cond_[static_cast<size_t>(from)] = true;
    }
    const Branches::Choice* const choice = branches_.ChoiceOf(i);
    if (choice == nullptr || in_cond || PathTo(body_of(i)).size() >= kMaxNested ||
        cheap_.count(i) > 0)
      return;
    const auto [found, is_new] =
        groups_by_key_.emplace(std::make_tuple(choice->condition, branches_.StageOf(i), body_of(i),
                                               node.loop, IsMergeOp(node.op) ? -1 : i,
                                               average_gradients_ && IsGradientName(node.name)),
                               static_cast<int>(found_.groups.size()));
    found_.group_of[i] = found->second;
    if (is_new) found_.groups.emplace_back();
    BranchBodies::Group& of = found_.groups[static_cast<size_t>(found->second)];
    of.chosen.push_back(i);
    for (size_t side = of.bodies.size(); side < choice->first.size(); ++side) {
      of.bodies.push_back(static_cast<int>(found_.bodies.size()));
      BranchBodies::Body& made = found_.bodies.emplace_back();
      made.group = found->second;
      made.side = static_cast<int>(side);
    }
  }

  void AddMembers() {
    for (const int i : readers_first_) {
      if (body_of(i) >= 0) body(body_of(i)).nodes.push_back(i);
      ForEachRead(i, [this](FlatTensor from, int by) {
        if (found_.GroupOf(from.node) != nullptr) found_.read.insert(from);
        // The value of a variable is read by its reader.
        if (order_.VariableOf(from) >= 0) return;
        for (int at = body_of(from.node); !IsAround(at, by); at = Parent(at))
          body(at).passed.insert(from);
      });
    }
    for (BranchBodies::Body& of : found_.bodies) std::reverse(of.nodes.begin(), of.nodes.end());
    for (BranchBodies::Group& of : found_.groups) std::reverse(of.chosen.begin(), of.chosen.end());
  }

  const FlatGraph& nodes_;
  const Branches& branches_;
  const VariableOrder& order_;
  const bool average_gradients_;
  std::vector<int> readers_first_;  // the needed nodes
  std::set<int> outer_loops_;       // that have a loop in them
  std::set<int> cheap_;             // what is not chosen from bodies, but selected
  std::vector<bool> in_cond_;       // nodes of the conditions of loops
  // By condition, stage, body and loop; an If or a Case is a group by itself. On replicas gradients
  // are groups of their own, because they are averaged where they are read elsewhere.
  std::map<std::tuple<FlatTensor, int, int, int, int, bool>, int> groups_by_key_;
  BranchBodies found_;
};

}  // namespace

BranchBodies FindBranchBodies(const FlatGraph& nodes, const Branches& branches,
                              const VariableOrder& order, const std::vector<bool>& needed,
                              const std::vector<FlatTensor>& results, bool average_gradients) {
  return BodyFinder(nodes, branches, order, needed, average_gradients).Run(results);
}

}  // namespace estimator
