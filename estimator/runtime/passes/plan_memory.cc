#include "estimator/runtime/passes/plan_memory.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "estimator/runtime/passes/select_kernels.h"

namespace estimator::ir {

// An empty tensor gets a place too, so that kernels never get a null pointer.
int64_t FirstFit::Rounded(size_t bytes) {
  const int64_t size = static_cast<int64_t>(std::max<size_t>(bytes, 1));
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

int64_t FirstFit::Allocate(size_t bytes) {
  const int64_t size = Rounded(bytes);
  for (auto it = gaps_.begin(); it != gaps_.end(); ++it) {
    if (it->second < size) continue;
    const auto [offset, gap] = *it;
    gaps_.erase(it);
    if (gap > size) gaps_.emplace(offset + size, gap - size);
    return offset;
  }
  const int64_t offset = end_;
  end_ += size;
  peak_ = std::max(peak_, end_);
  return offset;
}

void FirstFit::Free(int64_t offset, size_t bytes) {
  int64_t size = Rounded(bytes);
  auto next = gaps_.lower_bound(offset);
  if (next != gaps_.end() && offset + size == next->first) {
    size += next->second;
    next = gaps_.erase(next);
  }
  if (next != gaps_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      size += before->second;
      gaps_.erase(before);
    }
  }
  if (offset + size == end_) {
    end_ = offset;
  } else {
    gaps_.emplace(offset, size);
  }
}

namespace {

class Planner {
 public:
  Planner(const Module& module, const Schedule& schedule) : module_(module), schedule_(schedule) {}

  MemoryPlan Run() {
    plan_.buffer_of.resize(module_.nodes.size());
    for (size_t n = 0; n < module_.nodes.size(); ++n) {
      plan_.buffer_of[n].assign(module_.nodes[n].outputs.size(), -1);
    }
    PlaceFixed();
    FindLastUses();
    plan_.scratch.assign(schedule_.order.size(), -1);
    for (size_t t = 0; t < schedule_.order.size(); ++t) PlaceNode(static_cast<int>(t));
    for (size_t n = 0; n < module_.nodes.size(); ++n) {
      if (!IsView(module_.nodes[n])) continue;
      plan_.buffer_of[n][0] = plan_.buffer(Root(module_, {static_cast<int>(n), 0}));
    }
    plan_.arena_bytes = arena_.peak();
    return std::move(plan_);
  }

 private:
  int AddBuffer(Buffer buffer) {
    plan_.buffers.push_back(buffer);
    return static_cast<int>(plan_.buffers.size()) - 1;
  }
  int& BufferOf(Value value) { return At(plan_.buffer_of, value); }
  int LastUse(Value root) const {
    const auto it = last_use_.find(root);
    return it == last_use_.end() ? -1 : it->second;
  }

  void PlaceFixed() {
    for (size_t n = 0; n < module_.nodes.size(); ++n) {
      const Node& node = module_.nodes[n];
      if (node.kind == Node::Kind::kOp) continue;
      const Buffer::Kind kind = node.kind == Node::Kind::kConstant ? Buffer::Kind::kConstant
                                : node.kind == Node::Kind::kFeed   ? Buffer::Kind::kFeed
                                                                   : Buffer::Kind::kVariable;
      const int index = node.kind == Node::Kind::kConstant ? static_cast<int>(n) : node.index;
      plan_.buffer_of[n][0] = AddBuffer({.kind = kind, .offset = 0, .index = index});
    }
    // A fetch must survive the step, and a string is an object, so both get buffers of their own.
    // An update in place has the buffer of its variable.
    for (const Value& fetch : module_.fetches) {
      const Value root = Root(module_, fetch);
      if (module_.node(root).kind == Node::Kind::kOp && BufferOf(root) < 0) PlaceOwn(root);
    }
    for (const int n : schedule_.order) {
      for (size_t o = 0; o < module_.node(n).outputs.size(); ++o) {
        const Value value{n, static_cast<int>(o)};
        if (module_.spec(value).dtype == DType::kString && BufferOf(value) < 0) PlaceOwn(value);
      }
    }
    for (const auto& [value, variable] : schedule_.in_place) {
      BufferOf(value) =
          AddBuffer({.kind = Buffer::Kind::kVariable, .offset = 0, .index = variable});
    }
  }

  void PlaceOwn(Value value) {
    BufferOf(value) = AddBuffer(
        {.kind = Buffer::Kind::kOwn, .offset = 0, .index = static_cast<int>(plan_.own.size())});
    plan_.own.push_back(module_.spec(value));
  }

  void FindLastUses() {
    for (size_t t = 0; t < schedule_.order.size(); ++t) {
      for (const Value& input : module_.node(schedule_.order[t]).inputs) {
        last_use_[Root(module_, input)] = static_cast<int>(t);
      }
    }
    for (const int u : schedule_.copies) {
      last_use_[Root(module_, At(module_.updates, u).value)] =
          static_cast<int>(schedule_.order.size());
    }
  }

  // The input that output `o` can overwrite at position t, or an invalid value.
  Value Replaceable(int t, const Node& node, int o, const std::set<Value>& taken) const {
    const int alias = node.op == kCollectiveOp ? 0 : node.kernel->AliasInput(o);
    if (alias < 0) return {};
    const Value input = Root(module_, At(node.inputs, alias));
    const auto it = arena_values_.find(input);
    if (it == arena_values_.end() || LastUse(input) != t || taken.count(input) > 0) return {};
    if (module_.spec(input).num_bytes() != At(node.outputs, o).num_bytes()) return {};
    const auto reads =
        std::count_if(node.inputs.begin(), node.inputs.end(),
                      [&](const Value& other) { return Root(module_, other) == input; });
    return reads == 1 ? input : Value{};
  }

  void PlaceNode(int t) {
    const int n = At(schedule_.order, t);
    const Node& node = module_.node(n);
    std::set<Value> taken;
    for (int o = 0; o < static_cast<int>(node.outputs.size()); ++o) {
      const Value value{n, o};
      if (BufferOf(value) >= 0) continue;
      const size_t bytes = module_.spec(value).num_bytes();
      const Value over = Replaceable(t, node, o, taken);
      if (over.node >= 0) {
        taken.insert(over);
        BufferOf(value) = BufferOf(over);
        arena_values_.erase(over);
      } else {
        BufferOf(value) =
            AddBuffer({.kind = Buffer::Kind::kArena, .offset = arena_.Allocate(bytes), .index = 0});
      }
      arena_values_.insert(value);
    }
    // The scratch is freed at once: only values that are placed later may overlap it.
    const size_t scratch_bytes = node.kernel == nullptr ? 0 : node.kernel->scratch_bytes();
    if (scratch_bytes > 0) {
      const int64_t offset = arena_.Allocate(scratch_bytes);
      At(plan_.scratch, t) = offset;
      arena_.Free(offset, scratch_bytes);
    }
    const auto free = [&](Value value) {
      if (arena_values_.erase(value) == 0) return;
      arena_.Free(At(plan_.buffers, BufferOf(value)).offset, module_.spec(value).num_bytes());
    };
    for (const Value& input : node.inputs) {
      const Value root = Root(module_, input);
      if (LastUse(root) == t) free(root);
    }
    for (int o = 0; o < static_cast<int>(node.outputs.size()); ++o) {
      if (LastUse({n, o}) < 0) free({n, o});
    }
  }

  const Module& module_;
  const Schedule& schedule_;
  MemoryPlan plan_;
  FirstFit arena_;
  std::map<Value, int> last_use_;  // root -> position of its last reader
  std::set<Value> arena_values_;   // values in the arena that are needed now or later
};

}  // namespace

MemoryPlan PlanMemory(const Module& module, const Schedule& schedule) {
  return Planner(module, schedule).Run();
}

}  // namespace estimator::ir
