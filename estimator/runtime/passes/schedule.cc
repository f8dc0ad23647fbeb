#include "estimator/runtime/passes/schedule.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/op_def/op_def.h"
#include "estimator/runtime/passes/row_updates.h"
#include "estimator/runtime/passes/select_kernels.h"

namespace estimator::ir {
namespace {

// Whether the op's kernel never returns an error for any data. Optimizers' updates consist of such
// ops.
bool CannotFail(const Module& module, const Node& node) {
  const OpTraits::Failure failure = TraitsOf(node.op).failure;
  if (failure == OpTraits::Failure::kNeverOfFloats) return IsFloating(node.outputs[0].dtype);
  return failure == OpTraits::Failure::kNever || IsCheckedScatter(module, node);
}

class Scheduler {
 public:
  explicit Scheduler(const Module& module) : module_(module), readers_(Readers(module)) {}

  Schedule Run() {
    result_.only_updates = OnlyUpdates(module_);
    FindInPlace();
    // It can take back a write in place, so the copies are listed after it.
    std::vector<int> phase = OrderUpdatePhase();
    OrderSegments();
    result_.updates_begin = static_cast<int>(result_.order.size());
    for (const int n : phase) {
      if (!IsView(at(n))) result_.order.push_back(n);
    }
    for (size_t u = 0; u < module_.updates.size(); ++u) {
      const auto it = result_.in_place.find(Root(module_, module_.updates[u].value));
      if (it == result_.in_place.end() || it->second != module_.updates[u].variable) {
        result_.copies.push_back(static_cast<int>(u));
      }
    }
    return std::move(result_);
  }

 private:
  const Node& at(int n) const { return module_.node(n); }
  bool Runs(int n) const { return at(n).kind == Node::Kind::kOp; }
  // The variable whose bytes `value` has, or -1.
  int VariableOf(Value value) const {
    const Node& root = module_.node(Root(module_, value));
    return root.kind == Node::Kind::kVariable ? root.index : -1;
  }

  // Node n and all nodes that depend on it, if they may run in the update phase; else empty.
  std::set<int> Closure(int n) const {
    std::set<int> closure;
    std::vector<int> stack = {n};
    while (!stack.empty()) {
      const int m = stack.back();
      stack.pop_back();
      if (m < 0 || !closure.insert(m).second) continue;
      // A fetch or a collective cannot wait for the phase. An error in it would leave half an
      // update.
      if (!At(result_.only_updates, m) || !CannotFail(module_, at(m))) return {};
      const std::vector<int>& readers = At(readers_, m);
      stack.insert(stack.end(), readers.begin(), readers.end());
    }
    return closure;
  }

  void FindInPlace() {
    for (const Update& update : module_.updates) {
      const Value value = Root(module_, update.value);
      // One value may update two variables. It is written into the first and copied to the other.
      const Node& node = module_.node(value);
      if (node.kind != Node::Kind::kOp || node.kernel == nullptr ||
          result_.in_place.count(value) > 0)
        continue;
      const int alias = node.kernel->AliasInput(value.output);
      if (alias < 0 || VariableOf(At(node.inputs, alias)) != update.variable) continue;
      // If the node reads the variable through another operand too, it must not overwrite it.
      const auto reads =
          std::count_if(node.inputs.begin(), node.inputs.end(),
                        [&](const Value& input) { return VariableOf(input) == update.variable; });
      if (reads != 1) continue;
      const std::set<int> closure = Closure(value.node);
      if (closure.empty()) continue;
      phase_.insert(closure.begin(), closure.end());
      result_.in_place.emplace(value, update.variable);
    }
  }

  // A topological order in which every reader of a variable runs before its writer. Nodes that form
  // a cycle (each writes what the next one reads) have no such order. Then one of them writes into
  // a buffer of its own, and its value is copied.
  std::vector<int> OrderUpdatePhase() {
    while (true) {
      std::map<int, int> writer;  // variable -> node
      for (const auto& [value, variable] : result_.in_place) writer[variable] = value.node;
      std::map<int, int> missing;
      std::map<int, std::set<int>> after;
      for (const int n : phase_) {
        missing.emplace(n, 0);
        for (const Value& input : at(n).inputs) {
          if (phase_.count(input.node) > 0) after[input.node].insert(n);
          const auto it = writer.find(VariableOf(input));
          if (it != writer.end() && it->second != n) after[n].insert(it->second);
        }
      }
      for (const auto& [n, nexts] : after) {
        for (const int next : nexts) ++missing[next];
      }
      std::priority_queue<int, std::vector<int>, std::greater<>> ready;
      for (const auto& [n, count] : missing) {
        if (count == 0) ready.push(n);
      }
      std::vector<int> order;
      while (!ready.empty()) {
        const int n = ready.top();
        ready.pop();
        order.push_back(n);
        for (const int next : after[n]) {
          if (--missing[next] == 0) ready.push(next);
        }
      }
      // Otherwise the nodes that are missing are part of a cycle, or behind one.
      if (order.size() == phase_.size()) return order;
      // Each round takes back one write, so the loop ends. The node may only be behind a cycle,
      // which costs a copy.
      for (auto it = result_.in_place.begin(); it != result_.in_place.end(); ++it) {
        if (missing[it->first.node] == 0) continue;
        result_.in_place.erase(it);
        break;
      }
    }
  }

  void OrderSegments() {
    const std::vector<int> level = Levels(module_);
    int num_levels = 1;
    for (size_t n = 0; n < level.size(); ++n) {
      // The last collective needs a segment after it.
      num_levels = std::max(num_levels, level[n] + (module_.nodes[n].op == kCollectiveOp ? 2 : 1));
    }
    std::vector<std::vector<int>> runs(static_cast<size_t>(num_levels)), collectives(runs.size());
    for (int n = 0; n < module_.num_nodes(); ++n) {
      if (!Runs(n) || IsView(at(n)) || at(n).derived || phase_.count(n) > 0) continue;
      At(at(n).op == kCollectiveOp ? collectives : runs, At(level, n)).push_back(n);
    }
    std::vector<int>& order = result_.order;
    for (int n = 0; n < module_.num_nodes(); ++n) {
      if (at(n).derived && !IsView(at(n))) order.push_back(n);
    }
    result_.derived_end = static_cast<int>(order.size());
    for (size_t k = 0; k < runs.size(); ++k) {
      Schedule::Segment segment;
      segment.begin = static_cast<int>(order.size());
      order.insert(order.end(), runs[k].begin(), runs[k].end());
      segment.end = static_cast<int>(order.size());
      order.insert(order.end(), collectives[k].begin(), collectives[k].end());
      segment.collectives_end = static_cast<int>(order.size());
      result_.segments.push_back(segment);
    }
  }

  const Module& module_;
  const std::vector<std::vector<int>> readers_;
  Schedule result_;
  std::set<int> phase_;
};

}  // namespace

void ProtectReads(Module& module) {
  std::set<int> updated;
  for (const Update& update : module.updates) updated.insert(update.variable);
  std::map<Value, Value> copies;
  const auto copy = [&](Value value) {
    const auto [it, is_new] = copies.emplace(value, Value());
    if (is_new) {
      it->second = module.Add({.op = kCopyOp,
                               .name = absl::StrCat(module.node(value).name, "/copy"),
                               .inputs = {value},
                               .outputs = {module.spec(value)}});
    }
    return it->second;
  };
  for (Value& fetch : module.fetches) {
    const Node& root = module.node(Root(module, fetch));
    if (root.kind == Node::Kind::kVariable && updated.count(root.index) > 0) fetch = copy(fetch);
  }
  for (Update& update : module.updates) {
    if (module.node(Root(module, update.value)).kind == Node::Kind::kVariable)
      update.value = copy(update.value);
  }
}

std::vector<Value> OverwritingChain(const Module& module, int i) {
  std::vector<Value> chain;
  Value value = Root(module, At(module.fetches, i));
  while (module.node(value).kind == Node::Kind::kOp) {
    const Node& node = module.node(value);
    const int alias = node.kernel == nullptr ? -1 : node.kernel->AliasInput(value.output);
    if (alias < 0 || node.derived) return {};
    const Value input = Root(module, At(node.inputs, alias));
    const auto is_input = [&](const Value& other) { return Root(module, other) == input; };
    // The loop reads its results after the trip.
    if (std::any_of(module.fetches.begin(), module.fetches.end(), is_input) ||
        std::count_if(node.inputs.begin(), node.inputs.end(), is_input) != 1 ||
        !(module.spec(input) == module.spec(value)))
      return {};
    chain.push_back(value);
    value = input;
  }
  const Node& source = module.node(value);
  return source.kind == Node::Kind::kFeed && source.index == i ? chain : std::vector<Value>();
}

void OrderCarried(Module& module) {
  std::map<int, int> after;
  for (int i = 0; i < module.num_carried; ++i) {
    for (const Value& value : OverwritingChain(module, i)) {
      const Node& node = module.node(value);
      const Value input = Root(module, At(node.inputs, node.kernel->AliasInput(value.output)));
      for (int n = value.node + 1; n < module.num_nodes(); ++n) {
        const std::vector<Value>& reads = module.node(n).inputs;
        if (std::none_of(reads.begin(), reads.end(),
                         [&](const Value& read) { return Root(module, read) == input; }))
          continue;
        // Of a node that reads the result too, the loop keeps both values.
        const std::set<int> below = NodesBelow(module, {{n, 0}}, [](Value) { return true; });
        if (below.count(value.node) == 0) after[value.node] = n + 1;
      }
    }
  }
  if (!after.empty()) Compact(module, after);
}

std::vector<int> Levels(const Module& module) {
  std::vector<int> level(module.nodes.size(), 0);
  for (size_t n = 0; n < level.size(); ++n) {
    for (const Value& input : module.nodes[n].inputs) {
      const int past = module.node(input).op == kCollectiveOp ? 1 : 0;
      level[n] = std::max(level[n], At(level, input.node) + past);
    }
  }
  return level;
}

std::vector<char> OnlyUpdates(const Module& module) {
  std::vector<char> only(module.nodes.size(), 1);
  for (const Value& fetch : module.fetches) At(only, fetch.node) = 0;
  for (size_t n = module.nodes.size(); n-- > 0;) {
    // All replicas take part in a sum, also if only updates need it.
    if (module.nodes[n].op == kCollectiveOp) only[n] = 0;
    if (only[n]) continue;
    for (const Value& input : module.nodes[n].inputs) At(only, input.node) = 0;
  }
  return only;
}

Schedule MakeSchedule(const Module& module) { return Scheduler(module).Run(); }

}  // namespace estimator::ir
