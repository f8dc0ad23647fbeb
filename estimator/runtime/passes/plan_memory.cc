#include "estimator/runtime/passes/plan_memory.h"

#include <algorithm>
#include <iterator>
#include <numeric>
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
  // The end moves back, because a gap here would only take values up to its own size.
  if (offset + size == end_) {
    end_ = offset;
  } else {
    gaps_.emplace(offset, size);
  }
}

std::vector<int64_t> PlaceBySize(const std::vector<LiveRange>& ranges, int64_t* peak) {
  std::vector<size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return ranges[a].size > ranges[b].size; });
  std::vector<int64_t> offsets(ranges.size(), 0);
  std::vector<size_t> placed;  // by offset
  *peak = 0;
  for (const size_t r : order) {
    const LiveRange& range = ranges[r];
    int64_t best = -1, best_gap = 0, end = 0;
    for (const size_t other : placed) {
      if (ranges[other].begin > range.end || ranges[other].end < range.begin) continue;
      const int64_t gap = offsets[other] - end;
      if (gap >= range.size && (best < 0 || gap < best_gap)) {
        best = end;
        best_gap = gap;
      }
      end = std::max(end, offsets[other] + ranges[other].size);
    }
    offsets[r] = best < 0 ? end : best;
    *peak = std::max(*peak, offsets[r] + range.size);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), r,
                                   [&](size_t a, size_t b) { return offsets[a] < offsets[b]; }),
                  r);
  }
  return offsets;
}

namespace {

// The values of one arena. They are placed one after the other, first fit; Finish can move all.
class Region {
 public:
  // Returns the number of the value, from 0.
  int Add(size_t bytes, int position) {
    ranges_.push_back({.size = FirstFit::Rounded(bytes), .begin = position, .end = position});
    offsets_.push_back(fit_.Allocate(bytes));
    return static_cast<int>(ranges_.size()) - 1;
  }
  // The value is not needed after `position`.
  void Free(int value, int position) {
    At(ranges_, value).end = position;
    fit_.Free(At(offsets_, value), static_cast<size_t>(At(ranges_, value).size));
  }
  // The value is needed until the end.
  void Keep(int value, int end) { At(ranges_, value).end = end; }

  // Computes the final offsets.
  void Finish() {
    bytes_ = fit_.peak();
    if (ranges_.size() > kMostBySize) return;
    int64_t peak = 0;
    std::vector<int64_t> offsets = PlaceBySize(ranges_, &peak);
    // Neither order of placing is always better.
    if (peak >= bytes_) return;
    offsets_ = std::move(offsets);
    bytes_ = peak;
  }
  int64_t offset(int value) const { return At(offsets_, value); }
  int64_t bytes() const { return bytes_; }

 private:
  // Placing more by size would take longer than the other passes together.
  static constexpr size_t kMostBySize = 4096;

  FirstFit fit_;
  std::vector<LiveRange> ranges_;
  std::vector<int64_t> offsets_;
  int64_t bytes_ = 0;
};

class Planner {
 public:
  Planner(const Module& module, const Schedule& schedule) : module_(module), schedule_(schedule) {}

  MemoryPlan Run() {
    plan_.buffer_of.resize(module_.nodes.size());
    for (size_t n = 0; n < module_.nodes.size(); ++n) {
      plan_.buffer_of[n].assign(module_.nodes[n].outputs.size(), -1);
    }
    FindPhases();
    FindLastUses();
    PlaceFixed();
    plan_.scratch.assign(schedule_.order.size(), -1);
    for (size_t t = 0; t < schedule_.order.size(); ++t) PlaceNode(static_cast<int>(t));
    FinishRegions();
    for (size_t n = 0; n < module_.nodes.size(); ++n) {
      if (!IsView(module_.nodes[n])) continue;
      plan_.buffer_of[n][0] = plan_.buffer(Root(module_, {static_cast<int>(n), 0}));
    }
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
    for (int i = 0; i < module_.num_carried; ++i) PlaceCarried(i);
    // A fetch must survive the step, and a string is an object, so both get buffers of their own.
    // An update in place has the buffer of its variable.
    for (const Value& fetch : module_.fetches) {
      const Value root = Root(module_, fetch);
      // Two fetches may be views of one value.
      if (module_.node(root).kind == Node::Kind::kOp && BufferOf(root) < 0) PlaceOwn(root);
    }
    for (const int n : schedule_.order) {
      for (size_t o = 0; o < module_.node(n).outputs.size(); ++o) {
        const Value value{n, static_cast<int>(o)};
        const TensorSpec& spec = module_.spec(value);
        if (IsList(spec)) {
          BufferOf(value) = AddBuffer({.kind = Buffer::Kind::kList,
                                       .offset = 0,
                                       .index = static_cast<int>(plan_.lists.size())});
          plan_.lists.push_back(RowOf(spec));
        } else if (spec.dtype == DType::kString && BufferOf(value) < 0) {
          PlaceOwn(value);
        }
      }
    }
    for (size_t n = 0; n < module_.nodes.size(); ++n) {
      const Node& node = module_.nodes[n];
      if (!node.kept) continue;
      for (int o = 0; o < static_cast<int>(node.outputs.size()); ++o) {
        BufferOf({static_cast<int>(n), o}) =
            AddBuffer({.kind = Buffer::Kind::kDerived, .offset = plan_.derived_bytes, .index = 0});
        plan_.derived_bytes += FirstFit::Rounded(At(node.outputs, o).num_bytes());
      }
    }
    for (const auto& [value, variable] : schedule_.in_place) {
      BufferOf(value) =
          AddBuffer({.kind = Buffer::Kind::kVariable, .offset = 0, .index = variable});
    }
    for (const Schedule::Bucket& bucket : schedule_.buckets) {
      int64_t offset = bucket.offset;
      for (const int n : bucket.collectives) {
        // The sum is written over its operand.
        const int buffer = AddBuffer({.kind = Buffer::Kind::kBucket, .offset = offset, .index = 0});
        BufferOf({n, 0}) = BufferOf(Root(module_, module_.node(n).inputs[0])) = buffer;
        offset += FirstFit::Rounded(module_.node(n).outputs[0].num_bytes());
      }
      plan_.bucket_bytes = offset;
    }
  }

  // Lets carried value `i` of a loop's body stay in its buffer, if the kernels that compute the
  // next value from it overwrite it one after the other.
  void PlaceCarried(int i) {
    const std::vector<Value> chain = OverwritingChain(module_, i);
    if (chain.empty()) return;
    Value input;
    for (const Value& value : chain) {
      const Node& node = module_.node(value);
      input = Root(module_, At(node.inputs, node.kernel->AliasInput(value.output)));
      if (LastUse(input) != static_cast<int>(position_.at(value.node)) || BufferOf(value) >= 0)
        return;
    }
    for (const Value& value : chain) BufferOf(value) = BufferOf(input);
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
    // The values are copied after the last instruction.
    for (const int u : schedule_.copies) {
      last_use_[Root(module_, At(module_.updates, u).value)] =
          static_cast<int>(schedule_.order.size());
    }
  }

  // Numbers the parts of the step that a replica runs without a break: the derived nodes, the
  // instructions of each segment, its collectives, and the updates.
  void FindPhases() {
    phase_.assign(schedule_.order.size() + 1, 0);
    int phase = 0;
    const auto number = [&](int begin, int end) {
      for (int t = begin; t < end; ++t) At(phase_, t) = phase;
      ++phase;
    };
    number(0, schedule_.derived_end);
    for (const Schedule::Segment& segment : schedule_.segments) {
      number(segment.begin, segment.end);
      has_collectives_ |= segment.end < segment.collectives_end;
      number(segment.end, segment.collectives_end);
    }
    number(schedule_.updates_begin, static_cast<int>(phase_.size()));
    for (size_t t = 0; t < schedule_.order.size(); ++t) position_[schedule_.order[t]] = t;
  }

  // Whether the replicas share the place of a value: it lives within one phase, and is not the
  // result of a collective.
  bool IsShared(Value value) const {
    if (!has_collectives_ || module_.node(value).op == kCollectiveOp) return false;
    const int last = LastUse(value);
    const size_t born = position_.at(value.node);
    return last < 0 || phase_[born] == At(phase_, last);
  }
  Region& RegionOf(bool shared) { return shared ? shared_ : arena_; }

  // The input that output `o` can overwrite at position t, or an invalid value.
  Value Replaceable(int t, const Node& node, int o, const std::set<Value>& taken) const {
    const int alias = node.op == kCollectiveOp ? 0 : node.kernel->AliasInput(o);
    if (alias < 0) return {};
    const Value input = Root(module_, At(node.inputs, alias));
    const auto it = arena_values_.find(input);
    // Only values in an arena end with the step. Two outputs must not overwrite the same input.
    if (it == arena_values_.end() || LastUse(input) != t || taken.count(input) > 0) return {};
    if (module_.spec(input).num_bytes() != At(node.outputs, o).num_bytes()) return {};
    // The two belong into different arenas.
    if (IsShared(input) != IsShared({At(schedule_.order, t), o})) return {};
    // A second read could come after the first write.
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
        const bool shared = IsShared(value);
        BufferOf(value) = AddBuffer({.kind = shared ? Buffer::Kind::kShared : Buffer::Kind::kArena,
                                     .offset = 0,
                                     .index = 0});
        placed_[BufferOf(value)] = RegionOf(shared).Add(bytes, t);
      }
      arena_values_.insert(value);
    }
    // The scratch is freed at once: only values that are placed later may overlap it.
    const size_t scratch_bytes = node.kernel == nullptr ? 0 : node.kernel->scratch_bytes();
    if (scratch_bytes > 0) {
      Region& region = RegionOf(has_collectives_);
      const int value = region.Add(scratch_bytes, t);
      region.Free(value, t);
      scratch_[t] = value;
    }
    // The inputs are freed after the outputs have their places: a kernel may write before it has
    // read all of its inputs.
    const auto free = [&](Value value) {
      if (arena_values_.erase(value) == 0) return;
      RegionOf(IsShared(value)).Free(placed_.at(BufferOf(value)), t);
    };
    for (const Value& input : node.inputs) {
      const Value root = Root(module_, input);
      if (LastUse(root) == t) free(root);
    }
    for (int o = 0; o < static_cast<int>(node.outputs.size()); ++o) {
      // A kernel writes all of its outputs, also those that nobody reads.
      if (LastUse({n, o}) < 0) free({n, o});
    }
  }

  void FinishRegions() {
    const int end = static_cast<int>(schedule_.order.size());
    for (const Value& value : arena_values_)
      RegionOf(IsShared(value)).Keep(placed_.at(BufferOf(value)), end);
    arena_.Finish();
    shared_.Finish();
    for (const auto& [buffer, value] : placed_) {
      Buffer& place = At(plan_.buffers, buffer);
      place.offset = RegionOf(place.kind == Buffer::Kind::kShared).offset(value);
    }
    for (const auto& [t, value] : scratch_)
      At(plan_.scratch, t) = RegionOf(has_collectives_).offset(value);
    plan_.arena_bytes = arena_.bytes();
    plan_.shared_bytes = shared_.bytes();
  }

  const Module& module_;
  const Schedule& schedule_;
  MemoryPlan plan_;
  Region arena_, shared_;
  bool has_collectives_ = false;
  std::vector<int> phase_;          // of each position, and of the end
  std::map<int, size_t> position_;  // node -> its position
  std::map<int, int> placed_;       // buffer -> its number in its region
  std::map<int, int> scratch_;      // position -> the number of its scratch in its region
  std::map<Value, int> last_use_;   // root -> position of its last reader
  std::set<Value> arena_values_;    // values in the arena that are needed now or later
};

}  // namespace

MemoryPlan PlanMemory(const Module& module, const Schedule& schedule) {
  return Planner(module, schedule).Run();
}

}  // namespace estimator::ir
