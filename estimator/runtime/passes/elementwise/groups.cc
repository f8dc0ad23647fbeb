#include "estimator/runtime/passes/elementwise/groups.h"

#include <algorithm>
#include <utility>

#include "absl/types/span.h"
#include "estimator/kernels/fused/tile_ops.h"
#include "estimator/runtime/passes/pattern.h"
#include "estimator/runtime/passes/schedule.h"

namespace estimator::ir {

ElementwiseGroups::ElementwiseGroups(const Module& module)
    : module_(module),
      levels_(Levels(module)),
      only_updates_(OnlyUpdates(module)),
      group_(module.nodes.size(), -1),
      seen_(module.nodes.size(), 0) {
  for (size_t n = 0; n < group_.size(); ++n) reach_.push_back(static_cast<int>(n));
  // Nodes are visited in topological order. Each is first a group of its own, and then merged with
  // the groups of its inputs if possible.
  for (int n = 0; n < static_cast<int>(group_.size()); ++n) {
    if (!IsCandidate(n)) continue;
    At(group_, n) = n;
    members_[n] = {n};
    for (const Value& input : at(n).inputs) {
      const int a = At(group_, input.node), b = At(group_, n);
      if (a >= 0 && a != b && CanMerge(a, b)) Merge(a, b);
    }
  }
}

bool ElementwiseGroups::IsCandidate(int n) const {
  const Node& node = at(n);
  if (node.kind != Node::Kind::kOp || node.outputs.size() != 1 || node.stateful) return false;
  if (node.op == "Cast") return IsFusedCast(node);
  const auto info = fused::FindTileOp(node.op);
  if (!info.has_value() || info->num_operands != static_cast<int>(node.inputs.size())) return false;
  // The dtype of the operands that are numbers, and of the result if it is one.
  const DType dtype = module_.spec(node.inputs.back()).dtype;
  if (dtype != DType::kFloat32 && dtype != DType::kBfloat16) return false;
  if (node.outputs[0].dtype != (info->result_is_mask ? DType::kBool : dtype)) return false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorSpec& input = module_.spec(node.inputs[i]);
    if (input.dtype != (info->first_is_mask && i == 0 ? DType::kBool : dtype)) return false;
    if (!(input.shape == node.outputs[0].shape) && input.shape.num_elements() != 1) return false;
  }
  return true;
}

// Whether the node casts f32 to bf16, rounding to nearest, or bf16 or u8 to f32.
bool ElementwiseGroups::IsFusedCast(const Node& node) const {
  const DType from = module_.spec(node.inputs[0]).dtype, to = node.outputs[0].dtype;
  const bool narrows = from == DType::kFloat32 && to == DType::kBfloat16;
  const bool widens = (from == DType::kBfloat16 || from == DType::kUint8) && to == DType::kFloat32;
  return (narrows || widens) && !HasFlag(node, "Truncate");
}

bool ElementwiseGroups::CanMerge(int a, int b) {
  const std::vector<int>&as = members_[a], &bs = members_[b];
  if (as.size() + bs.size() > kMaxGroupMembers ||
      !(at(a).outputs[0].shape == at(b).outputs[0].shape))
    return false;
  // The chain would wait for a collective that only one of the two needs.
  if (At(levels_, a) != At(levels_, b)) return false;
  // A chain with an update in place runs after the outfeed, which is too late for a fetch.
  if (At(only_updates_, a) != At(only_updates_, b)) return false;
  return !PathAround(a, b) && !PathAround(b, a);
}

// Whether there is a path from a member of `from` to a member of `to` through a node of neither
// group. Then merging the two would make a cycle. Another group on the path counts as one node.
bool ElementwiseGroups::PathAround(int from, int to) {
  ++stamp_;
  const int lowest = *std::min_element(members_[from].begin(), members_[from].end());
  // Breadth first: in an unrolled network a path, if there is one, is mostly short.
  std::vector<int> queue;
  const auto push_inputs = [&](int n) {
    for (const Value& input : at(n).inputs) {
      if (Reach(input.node) < lowest) continue;  // does not depend on any member of `from`
      if (std::exchange(At(seen_, input.node), stamp_) != stamp_) queue.push_back(input.node);
    }
  };
  for (const int n : members_[to]) push_inputs(n);
  // A member of `to` that reads `from` directly is not a path through another node.
  std::erase_if(queue, [&](int n) { return At(group_, n) == from || At(group_, n) == to; });
  for (size_t next = 0; next < queue.size(); ++next) {
    const int n = queue[next];
    const int group = At(group_, n);
    if (group == to) continue;
    const absl::Span<const int> members =
        group < 0 ? absl::MakeConstSpan(&n, 1) : absl::MakeConstSpan(members_[group]);
    for (const int member : members) {
      At(seen_, member) = stamp_;
      for (const Value& input : at(member).inputs) {
        if (At(group_, input.node) == from) return true;
      }
      push_inputs(member);
    }
  }
  return false;
}

void ElementwiseGroups::Merge(int a, int b) {
  std::vector<int> moved = std::move(members_[b]);
  members_.erase(b);
  for (const int n : moved) At(group_, n) = a;
  std::vector<int>& members = members_[a];
  members.insert(members.end(), moved.begin(), moved.end());
  std::sort(members.begin(), members.end());
  JoinClusters(members.front(), members.back());
}

// An upper bound of the indices of the nodes that node n depends on, where each group counts as
// one node. It lets PathAround stop early. Groups are intervals of indices, and nodes whose
// intervals overlap are a cluster: the bound is the last node of n's cluster.
int ElementwiseGroups::Reach(int n) {
  while (At(reach_, n) != n) n = At(reach_, n) = At(reach_, At(reach_, n));
  return n;
}

// Nodes first to last are in one group from now on. Clusters only grow, so that all calls
// together take almost linear time, also for the thousands of groups of an unrolled network.
void ElementwiseGroups::JoinClusters(int first, int last) {
  const int end = Reach(last);
  for (int n = Reach(first); n < end; n = Reach(n + 1)) At(reach_, n) = end;
}

}  // namespace estimator::ir
