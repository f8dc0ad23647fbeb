#include "estimator/runtime/passes/elementwise/recompute.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "estimator/runtime/passes/elementwise/groups.h"
#include "estimator/runtime/passes/rewriter.h"

namespace estimator::ir {
namespace {

constexpr size_t kMostAddends = 4;

class Recomputer {
 public:
  explicit Recomputer(Module& module)
      : module_(module), groups_(module), readers_(Readers(module)) {}

  void Run() {
    for (const auto& [group, members] : groups_.members()) Visit(group, members);
    Compact(module_);
  }

 private:
  using Group = std::vector<int>;

  // Lets the group `to` compute again what it reads of other groups.
  void Visit(int to, const Group& members) {
    size_t size = members.size();
    std::map<int, std::set<int>> read;  // for each other group, its nodes that no one else reads
    for (const int n : members) {
      for (const Value& input : module_.node(n).inputs) {
        // A clone from an earlier visit has a higher number and belongs to no group.
        const int from = input.node < NumOldNodes() ? groups_.group(input.node) : -1;
        if (from < 0 || from == to || !groups_.SameLevel(members[0], input.node)) continue;
        const std::vector<int>& all = At(readers_, input.node);
        // A value that others read is written in any case.
        if (std::all_of(all.begin(), all.end(), [&, from = from](int r) {
              return r >= 0 && (groups_.group(r) == to || groups_.group(r) == from);
            }))
          read[from].insert(input.node);
      }
    }
    for (const auto& [from, values] : read) {
      const std::set<int> cone = ConeOf(from, values);
      if (cone.size() + size > kMaxGroupMembers || !Saves(members, cone, values)) continue;
      Clone(members, cone);
      size += cone.size();
    }
  }

  int64_t BytesOf(Value value) const {
    return static_cast<int64_t>(module_.spec(value).num_bytes());
  }
  int NumOldNodes() const { return static_cast<int>(readers_.size()); }

  // `values` and all nodes of their group that they depend on.
  std::set<int> ConeOf(int group, const std::set<int>& values) const {
    std::vector<Value> outputs;
    for (const int n : values) outputs.push_back({n, 0});
    return NodesBelow(module_, outputs, [&](Value value) {
      return value.node < NumOldNodes() && groups_.group(value.node) == group;
    });
  }

  // Whether what `cone` reads has fewer bytes than `values`. What `members` read anyway, and single
  // numbers, count nothing.
  bool Saves(const Group& members, const std::set<int>& cone, const std::set<int>& values) const {
    std::set<Value> known;
    for (const int n : members) {
      for (const Value& input : module_.node(n).inputs) {
        if (values.count(input.node) == 0) known.insert(input);
      }
    }
    int64_t saved = 0, added = 0;
    for (const int n : values) saved += BytesOf({n, 0});
    std::set<Value> counted;
    for (const int n : cone) {
      // Computing a power again takes longer than reading it.
      if (module_.node(n).op == "Pow") return false;
      for (const Value& input : module_.node(n).inputs) {
        if (cone.count(input.node) > 0 || known.count(input) > 0) continue;
        if (module_.spec(input).shape.num_elements() == 1 || !counted.insert(input).second)
          continue;
        added += BytesOf(input);
      }
    }
    return added < saved;
  }

  void Clone(const Group& members, const std::set<int>& cone) {
    std::map<int, int> clones;
    const auto rename = [&clones](std::vector<Value>& inputs) {
      for (Value& input : inputs) {
        const auto clone = clones.find(input.node);
        if (clone != clones.end()) input.node = clone->second;
      }
    };
    for (const int n : cone) {  // in topological order, as the nodes of the module are
      Node node = module_.node(n);
      rename(node.inputs);
      clones[n] = module_.Add(std::move(node)).node;
    }
    for (const int n : members) rename(module_.node(n).inputs);
  }

  Module& module_;
  const ElementwiseGroups groups_;
  const std::vector<std::vector<int>> readers_;
};

}  // namespace

void SplitAddN(Module& module) {
  Rewriter rewriter(module);
  for (int n = 0, size = module.num_nodes(); n < size; ++n) {
    const Node sum = module.node(n);
    if (!IsOp(sum, "AddN") || sum.inputs.size() < 2 || sum.inputs.size() > kMostAddends ||
        sum.outputs[0].dtype != DType::kFloat32)
      continue;
    Value total = sum.inputs[0];
    for (size_t i = 1; i < sum.inputs.size(); ++i)
      total = rewriter.AddOp("AddV2", {total, sum.inputs[i]}, sum.outputs[0], sum.name);
    rewriter.Replace({n, 0}, total);
  }
  rewriter.Finish();
}

void RecomputeElementwise(Module& module) { Recomputer(module).Run(); }

}  // namespace estimator::ir
