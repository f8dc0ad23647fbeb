// FlatGraph: walks over nodes whose inputs are resolved.
#include <utility>

#include "estimator/base/status.h"
#include "estimator/graphdef/import/flat_graph.h"

namespace estimator {

FlatTensor FlatGraph::BehindIdentities(FlatTensor at) const {
  // The limit ends a loop of a malformed file.
  for (int steps = 0; steps < 100; ++steps) {
    const FlatNode& from = node(at.node);
    if (from.op != "Identity" || from.inputs.empty()) break;
    at = from.inputs[0];
  }
  return at;
}

// The search keeps its own stack: a long chain of nodes would overflow the thread's.
absl::StatusOr<std::vector<int>> FlatGraph::Sorted(const std::vector<int>& roots,
                                                   bool controls) const {
  enum class State : char { kNew, kOpen, kDone };
  std::vector<State> states(nodes_.size(), State::kNew);
  std::vector<std::pair<int, size_t>> stack;  // node, its next input
  std::vector<int> order;
  for (const int root : roots) {
    if (states[static_cast<size_t>(root)] != State::kNew) continue;
    stack.emplace_back(root, 0);
    states[static_cast<size_t>(root)] = State::kOpen;
    while (!stack.empty()) {
      const int at = stack.back().first;
      const FlatNode& from = node(at);
      const size_t next = stack.back().second++;
      const size_t count = from.inputs.size() + (controls ? from.controls.size() : 0);
      if (next == count) {
        states[static_cast<size_t>(at)] = State::kDone;
        order.push_back(at);
        stack.pop_back();
        continue;
      }
      const bool is_input = next < from.inputs.size();
      if (is_input && IsGiven(from.inputs[next])) continue;
      const int input =
          is_input ? from.inputs[next].node : from.controls[next - from.inputs.size()];
      State& state = states[static_cast<size_t>(input)];
      if (state == State::kOpen) return InvalidArgument(Where(input), " depends on itself");
      if (state == State::kDone) continue;
      state = State::kOpen;
      stack.emplace_back(input, 0);
    }
  }
  return order;
}

std::vector<int> FlatGraph::Reached(const std::vector<int>& roots, bool controls) const {
  std::vector<bool> seen(nodes_.size(), false);
  std::vector<int> reached, pending = roots;
  while (!pending.empty()) {
    const int at = pending.back();
    pending.pop_back();
    if (seen[static_cast<size_t>(at)]) continue;
    seen[static_cast<size_t>(at)] = true;
    reached.push_back(at);
    for (const FlatTensor& input : node(at).inputs)
      if (!IsGiven(input)) pending.push_back(input.node);
    if (!controls) continue;
    pending.insert(pending.end(), node(at).controls.begin(), node(at).controls.end());
  }
  return reached;
}

}  // namespace estimator
