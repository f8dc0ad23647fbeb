#include "estimator/graph/needed_nodes.h"

#include <utility>

namespace estimator {

std::vector<const Node*> NeededNodes(const Graph& graph, const std::vector<Tensor>& roots) {
  std::vector<const Node*> nodes;
  for (const Tensor& root : roots) nodes.push_back(root.node());
  return NeededNodes(graph, std::move(nodes));
}

std::vector<const Node*> NeededNodes(const Graph& graph, std::vector<const Node*> pending) {
  std::vector<bool> needed(graph.nodes().size(), false);
  while (!pending.empty()) {
    const Node* const node = pending.back();
    pending.pop_back();
    if (needed[static_cast<size_t>(node->id())]) continue;
    needed[static_cast<size_t>(node->id())] = true;
    for (const Tensor& input : node->inputs()) pending.push_back(input.node());
    for (const Operation& control : node->control_inputs()) {
      if (control.valid()) pending.push_back(control.node());
    }
  }
  std::vector<const Node*> nodes;
  for (const auto& node : graph.nodes()) {
    if (needed[static_cast<size_t>(node->id())]) nodes.push_back(node.get());
  }
  return nodes;
}

}  // namespace estimator
