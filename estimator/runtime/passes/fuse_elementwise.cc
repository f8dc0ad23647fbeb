#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "estimator/kernels/fused/tile_ops.h"
#include "estimator/runtime/passes/fuse.h"
#include "estimator/runtime/passes/schedule.h"

namespace estimator::ir {
namespace {

// The tiles of all values should fit into an L1 cache of 32 KiB, or with a few more into L2.
constexpr size_t kMaxMembers = 24;

class Fuser {
 public:
  Fuser(Module& module, KernelTier fastest)
      : module_(module),
        fastest_(fastest),
        levels_(Levels(module)),
        only_updates_(OnlyUpdates(module)),
        group_(module.nodes.size(), -1),
        seen_(module.nodes.size(), 0) {
    for (const Update& update : module.updates) variable_of_.emplace(update.value, update.variable);
  }

  void Run() {
    for (size_t n = 0; n < group_.size(); ++n) reach_.push_back(static_cast<int>(n));
    // Nodes are visited in topological order. Each is first a group of its own, and then merged
    // with the groups of its inputs if possible.
    for (int n = 0; n < static_cast<int>(group_.size()); ++n) {
      if (!IsCandidate(n)) continue;
      At(group_, n) = n;
      members_[n] = {n};
      for (const Value& input : at(n).inputs) {
        const int a = At(group_, input.node), b = At(group_, n);
        if (a >= 0 && a != b && CanMerge(a, b)) Merge(a, b);
      }
    }
    const std::vector<std::vector<int>> readers = Readers(module_);
    Replacements to(module_.nodes.size());
    for (const auto& [group, members] : members_) {
      if (members.size() >= 2) Build(members, readers, to);
    }
    ReplaceUses(module_, to);
    Compact(module_);
  }

 private:
  const Node& at(int n) const { return module_.node(n); }
  static const Shape& ShapeOf(const Node& node) { return node.outputs[0].shape; }

  bool IsCandidate(int n) const {
    const Node& node = at(n);
    if (node.kind != Node::Kind::kOp || node.outputs.size() != 1 || node.stateful) return false;
    if (node.op == "Cast") return IsFusedCast(node);
    const auto info = fused::FindTileOp(node.op);
    if (!info.has_value() || info->num_operands != static_cast<int>(node.inputs.size()))
      return false;
    // The dtype of the operands that are numbers, and of the result if it is one.
    const DType dtype = module_.spec(node.inputs.back()).dtype;
    if (dtype != DType::kFloat32 && dtype != DType::kBfloat16) return false;
    if (node.outputs[0].dtype != (info->result_is_mask ? DType::kBool : dtype)) return false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorSpec& input = module_.spec(node.inputs[i]);
      if (input.dtype != (info->first_is_mask && i == 0 ? DType::kBool : dtype)) return false;
      if (!(input.shape == ShapeOf(node)) && input.shape.num_elements() != 1) return false;
    }
    return true;
  }

  // Whether the node casts f32 to bf16 or back, rounding to nearest.
  bool IsFusedCast(const Node& node) const {
    const DType from = module_.spec(node.inputs[0]).dtype, to = node.outputs[0].dtype;
    const bool narrows = from == DType::kFloat32 && to == DType::kBfloat16;
    const bool widens = from == DType::kBfloat16 && to == DType::kFloat32;
    const bool truncates = node.attrs.has("Truncate") && node.attrs.b("Truncate");
    return (narrows || widens) && !truncates;
  }

  bool CanMerge(int a, int b) {
    const std::vector<int>&as = members_[a], &bs = members_[b];
    if (as.size() + bs.size() > kMaxMembers || !(ShapeOf(at(a)) == ShapeOf(at(b)))) return false;
    if (At(levels_, a) != At(levels_, b)) return false;
    if (At(only_updates_, a) != At(only_updates_, b)) return false;
    return !PathAround(a, b) && !PathAround(b, a);
  }

  // Whether there is a path from a member of `from` to a member of `to` through a node of neither
  // group. Then merging the two would make a cycle. Another group on the path counts as one node.
  bool PathAround(int from, int to) {
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
      if (group < 0) {
        for (const Value& input : at(n).inputs) {
          if (At(group_, input.node) == from) return true;
        }
        push_inputs(n);
        continue;
      }
      for (const int member : members_[group]) {
        At(seen_, member) = stamp_;
        for (const Value& input : at(member).inputs) {
          if (At(group_, input.node) == from) return true;
        }
        push_inputs(member);
      }
    }
    return false;
  }

  void Merge(int a, int b) {
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
  int Reach(int n) {
    while (At(reach_, n) != n) n = At(reach_, n) = At(reach_, At(reach_, n));
    return n;
  }

  // Nodes first to last are in one group from now on. Clusters only grow, so that all calls
  // together take almost linear time, also for the thousands of groups of an unrolled network.
  void JoinClusters(int first, int last) {
    const int end = Reach(last);
    for (int n = Reach(first); n < end; n = Reach(n + 1)) At(reach_, n) = end;
  }

  void Build(const std::vector<int>& members, const std::vector<std::vector<int>>& readers,
             Replacements& to) {
    const std::set<int> inside(members.begin(), members.end());
    // Members that other nodes read; those that update variables are first.
    std::vector<int> outputs;
    for (const int n : members) {
      const std::vector<int>& all = At(readers, n);
      if (std::any_of(all.begin(), all.end(), [&](int r) { return inside.count(r) == 0; }))
        outputs.push_back(n);
    }
    std::stable_partition(outputs.begin(), outputs.end(), [&](int n) {
      return variable_of_.count({n, 0}) > 0;
    });

    Node fused;
    fused.op = "_FusedElementwise";
    fused.name = at(members.back()).name;
    std::map<Value, int64_t> operand;
    const auto add_input = [&](Value value) {
      if (inside.count(value.node) > 0) return;
      if (operand.emplace(value, static_cast<int64_t>(fused.inputs.size())).second)
        fused.inputs.push_back(value);
    };
    // A kernel lets output k overwrite the first suitable input. So for an output that updates a
    // variable, that variable must come first.
    for (const int n : outputs) {
      const auto variable = variable_of_.find({n, 0});
      if (variable == variable_of_.end()) continue;
      for (const int m : members) {
        for (const Value& input : at(m).inputs) {
          const Node& source = module_.node(Root(module_, input));
          if (source.kind == Node::Kind::kVariable && source.index == variable->second)
            add_input(input);
        }
      }
    }
    for (const int n : members) {
      for (const Value& input : at(n).inputs) add_input(input);
    }

    const int64_t num_inputs = static_cast<int64_t>(fused.inputs.size());
    auto origin = std::make_shared<Origin>();
    std::vector<std::string> ops;
    std::vector<int64_t> args;
    for (size_t j = 0; j < members.size(); ++j) {
      const Node& node = at(members[j]);
      ops.push_back(node.op);
      Origin::Step step = StepOf(node, {});
      for (size_t i = 0; i < 3; ++i) {
        args.push_back(i < node.inputs.size() ? operand.at(node.inputs[i]) : -1);
        if (args.back() < 0) continue;
        const int k = static_cast<int>(args.back());
        step.inputs.push_back(k < num_inputs ? Value{-1, k}
                                             : Value{k - static_cast<int>(num_inputs), 0});
      }
      origin->steps.push_back(std::move(step));
      operand[{members[j], 0}] = num_inputs + static_cast<int64_t>(j);
    }
    std::vector<int64_t> output_operands;
    for (const int n : outputs) {
      output_operands.push_back(operand.at({n, 0}));
      origin->outputs.push_back({static_cast<int>(output_operands.back() - num_inputs), 0});
      fused.outputs.push_back(at(n).outputs[0]);
    }
    fused.attrs.Set("ops", std::move(ops));
    fused.attrs.Set("args", std::move(args));
    fused.attrs.Set("outputs", std::move(output_operands));
    fused.origin = std::move(origin);
    if (!FindKernel(module_, fused, fastest_)) return;

    const int index = static_cast<int>(module_.nodes.size());
    for (size_t o = 0; o < outputs.size(); ++o) At(to, outputs[o]) = {{index, static_cast<int>(o)}};
    module_.nodes.push_back(std::move(fused));
    module_.num_fused_nodes += static_cast<int>(members.size());
  }

  Module& module_;
  const KernelTier fastest_;
  const std::vector<int> levels_;
  const std::vector<char> only_updates_;
  std::vector<int> group_;                   // for each node: the name of its group, or -1
  std::map<int, std::vector<int>> members_;  // of each group, in ascending order
  std::vector<int> reach_;                   // a later node of the same cluster, or the node itself
  std::vector<int> seen_;
  int stamp_ = 0;
  std::map<Value, int> variable_of_;  // value -> the variable that it updates
};

}  // namespace

void FuseElementwise(Module& module, KernelTier fastest) {
  if (fastest != KernelTier::kReference) Fuser(module, fastest).Run();
}

}  // namespace estimator::ir
