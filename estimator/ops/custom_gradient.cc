#include "estimator/ops/custom_gradient.h"

#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"

namespace estimator::internal {
namespace {

// The name of a trainable variable on which the outputs depend other than through `inputs`.
std::optional<std::string> HiddenVariable(Graph& graph, const Tensors& inputs,
                                          const Tensors& outputs) {
  std::set<const Node*> trainable;
  for (const Variable& variable : graph.TrainableVariables()) trainable.insert(variable.node());
  const std::set<Tensor> stops(inputs.begin(), inputs.end());
  std::set<const Node*> seen;
  Tensors pending = outputs;
  while (!pending.empty()) {
    const Tensor tensor = pending.back();
    pending.pop_back();
    const Node* node = tensor.node();
    if (stops.count(tensor) > 0 || !seen.insert(node).second) continue;
    if (trainable.count(node) > 0) return node->name();
    if (node->rules().not_differentiable) continue;
    for (const Tensor& input : node->inputs()) pending.push_back(input);
  }
  return std::nullopt;
}

absl::Status CheckGradients(const std::string& name, const Tensors& inputs, const Tensors& grads) {
  if (grads.size() != inputs.size()) {
    return InvalidArgument("CustomGradient '", name, "': backward returned ", grads.size(),
                           " gradients, forward has ", inputs.size(), " inputs");
  }
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].valid() || grads[i].spec() == inputs[i].spec()) continue;
    return InvalidArgument("CustomGradient '", name, "': backward returned ",
                           grads[i].spec().ToString(), " for input ", i, ", which is ",
                           inputs[i].spec().ToString());
  }
  return absl::OkStatus();
}

}  // namespace

Tensors WithGradient(
    const Tensors& inputs, const std::function<Tensors(const Tensors&)>& forward,
    std::function<Tensors(const Tensors& inputs, const Tensors& outputs, const Tensors& grads)>
        backward) {
  Graph& graph = GraphFor(inputs);
  const Tensors outputs = forward(inputs);
  const Tensors failed(outputs.size(), Tensor(&graph, nullptr, 0));
  if (!graph.status().ok()) return failed;
  Tensors all = outputs;
  all.insert(all.end(), inputs.begin(), inputs.end());
  const std::string gradient_name =
      absl::StrCat("CustomGradient-", graph.gradient_overrides().size());
  Node* const node = graph.AddNode("IdentityN", all, {{"_gradient_op_type", gradient_name}});
  if (node == nullptr) return failed;
  if (const std::optional<std::string> variable = HiddenVariable(graph, inputs, outputs)) {
    graph.Fail(InvalidArgument(
        "CustomGradient '", node->name(), "': forward depends on the variable '", *variable,
        "', which is not one of its inputs and would get no gradient; create the variable before, "
        "pass it as an input, and let backward return its gradient"));
    return failed;
  }
  graph.gradient_overrides()[node] = [inputs, outputs, backward = std::move(backward)](
                                         const Node& identity, const Tensors& grads) {
    Tensors of_outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const bool unused = !grads[i].valid() && IsFloating(outputs[i].dtype());
      of_outputs.push_back(unused ? ZerosLike(outputs[i]) : grads[i]);
    }
    Graph& graph = *outputs[0].graph();
    const Tensors of_inputs = backward(inputs, outputs, of_outputs);
    const absl::Status status = CheckGradients(identity.name(), inputs, of_inputs);
    Tensors all(outputs.size());  // no gradient flows to the ops of `forward`
    if (!status.ok()) {
      graph.Fail(status);
      return all;
    }
    all.insert(all.end(), of_inputs.begin(), of_inputs.end());
    return all;
  };
  Tensors results;
  for (size_t i = 0; i < outputs.size(); ++i)
    results.emplace_back(&graph, node, static_cast<int>(i));
  return results;
}

}  // namespace estimator::internal
