#include "estimator/ops/building/function_gradient.h"

#include <algorithm>

#include "estimator/graph/graph.h"

namespace estimator {

Tensor ComputeAgain(const Tensor& tensor) {
  const Node& node = *tensor.node();
  Graph& graph = Graph::Current();
  Node* const copy =
      graph.AddNode(node.op(), node.inputs(), node.attrs(), node.name(), {}, node.functions());
  return Tensor(&graph, copy, tensor.output());
}

Tensor ForwardTensor(const Function& forward, const Tensor& tensor,
                     const std::function<Tensor(const Tensor&)>& saved) {
  const auto captured = std::find(forward.captured().begin(), forward.captured().end(), tensor);
  if (captured != forward.captured().end())
    return forward.captures()[static_cast<size_t>(captured - forward.captured().begin())];
  if (tensor.node()->op() == "Const") return ComputeAgain(tensor);
  const Tensor left = saved(tensor);
  return left.valid() ? left : ComputeAgain(tensor);
}

}  // namespace estimator
