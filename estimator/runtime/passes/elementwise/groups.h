// Groups of element-wise nodes that one kernel can compute tile by tile. Internal to the fusing of
// element-wise chains.
#ifndef ESTIMATOR_RUNTIME_PASSES_ELEMENTWISE_GROUPS_H_
#define ESTIMATOR_RUNTIME_PASSES_ELEMENTWISE_GROUPS_H_

#include <cstddef>
#include <map>
#include <vector>

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// The tiles of all values should fit into an L1 cache of 32 KiB, or with a few more into L2.
inline constexpr size_t kMaxGroupMembers = 24;

// Groups the element-wise nodes of a module. A node that could not be joined with others is a group
// of its own. The module must not change while the object is used.
class ElementwiseGroups {
 public:
  explicit ElementwiseGroups(const Module& module);

  // The name of the group of node n, or -1 if n is not element-wise.
  int group(int n) const { return At(group_, n); }
  // The members of each group in ascending order, which is a topological order.
  const std::map<int, std::vector<int>>& members() const { return members_; }
  // Whether nodes a and b wait for the same collectives (schedule.h).
  bool SameLevel(int a, int b) const { return At(levels_, a) == At(levels_, b); }

 private:
  const Node& at(int n) const { return module_.node(n); }
  bool IsCandidate(int n) const;
  bool IsFusedCast(const Node& node) const;
  bool CanMerge(int a, int b);
  bool PathAround(int from, int to);
  void Merge(int a, int b);
  int Reach(int n);
  void JoinClusters(int first, int last);

  const Module& module_;
  const std::vector<int> levels_;
  const std::vector<char> only_updates_;
  std::vector<int> group_;
  std::map<int, std::vector<int>> members_;
  std::vector<int> reach_;  // a later node of the same cluster, or the node itself
  std::vector<int> seen_;
  int stamp_ = 0;
};

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_ELEMENTWISE_GROUPS_H_
