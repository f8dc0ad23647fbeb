#include "models/common/graph_flops.h"

#include <optional>
#include <vector>

#include "estimator/kernels/flops.h"

namespace estimator {
namespace {

// The operations of a node; nullopt if it is no product.
std::optional<int64_t> FlopsOf(const Node& node) {
  KernelSpec spec{.op = node.op(), .attrs = node.attrs(), .outputs = node.outputs()};
  for (const Tensor& input : node.inputs()) spec.inputs.push_back({input.dtype(), input.shape()});
  return ProductFlops(spec);
}

}  // namespace

double ProductFlops(const Graph& graph) {
  // Inputs have smaller ids, so that one pass from the last node to the first finds what is used.
  // An unused node that is no product is taken for an update.
  const auto& nodes = graph.nodes();
  std::vector<bool> read(nodes.size(), false), used(nodes.size(), false);
  double flops = 0;
  for (size_t i = nodes.size(); i-- > 0;) {
    const Node& node = *nodes[i];
    const std::optional<int64_t> of_node = FlopsOf(node);
    const auto id = static_cast<size_t>(node.id());
    used[id] = used[id] || (!read[id] && !of_node.has_value());
    const auto mark = [&](const Node* from) {
      if (from == nullptr) return;
      read[static_cast<size_t>(from->id())] = true;
      if (used[id]) used[static_cast<size_t>(from->id())] = true;
    };
    for (const Tensor& from : node.inputs()) mark(from.node());
    for (const Operation& from : node.control_inputs()) mark(from.node());
    if (used[id]) flops += static_cast<double>(of_node.value_or(0));
  }
  return flops;
}

}  // namespace estimator
