#include "estimator/graph/needed_nodes.h"

namespace estimator {

std::vector<const Node*> NeededNodes(const Graph& graph, const std::vector<Tensor>& roots) {
  std::vector<bool> needed(graph.nodes().size(), false);
  std::vector<const Node*> pending, nodes;
  for (const Tensor& root : roots) pending.push_back(root.node());
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (needed[static_cast<size_t>(node->id())]) continue;
    needed[static_cast<size_t>(node->id())] = true;
    for (const Tensor& input : node->inputs()) pending.push_back(input.node());
    for (const Operation& control : node->control_inputs()) pending.push_back(control.node());
  }
  for (const auto& node : graph.nodes()) {
    if (needed[static_cast<size_t>(node->id())]) nodes.push_back(node.get());
  }
  return nodes;
}

}  // namespace estimator
