#include "tpu/rules/checked_model.h"

#include <algorithm>

#include "tpu/cluster/tpu_slice.h"

namespace estimator::tpu {

std::vector<const Node*> ProgramNodes(const CheckedModel& model) {
  std::vector<const Node*> pending;
  const auto add_tensor = [&](const Tensor& tensor) {
    if (tensor.valid()) pending.push_back(tensor.node());
  };
  const auto add_operation = [&](const Operation& operation) {
    if (operation.valid()) pending.push_back(operation.node());
  };
  const ModelSpec& spec = model.spec;
  // After an error the spec's handles are not valid, so all nodes of the graph are checked.
  if (!model.graph.status().ok()) {
    for (const auto& node : model.graph.nodes()) pending.push_back(node.get());
  } else if (model.mode == Mode::kPredict) {
    for (const auto& [name, tensor] : spec.predictions) add_tensor(tensor);
  } else {
    add_tensor(spec.loss);
    if (model.mode == Mode::kTrain) {
      add_operation(spec.train_op);
      for (const Operation& update : model.graph.update_ops()) add_operation(update);
    } else if (spec.eval_metrics.has_value()) {
      for (const Tensor& tensor : spec.eval_metrics->tensors) add_tensor(tensor);
    }
  }
  if (spec.host_call.has_value()) {
    for (const Tensor& tensor : spec.host_call->tensors) add_tensor(tensor);
  }
  std::vector<bool> needed(model.graph.nodes().size(), false);
  while (!pending.empty()) {
    const Node* const node = pending.back();
    pending.pop_back();
    if (needed[static_cast<size_t>(node->id())]) continue;
    needed[static_cast<size_t>(node->id())] = true;
    for (const Tensor& input : node->inputs()) add_tensor(input);
    for (const Operation& control : node->control_inputs()) add_operation(control);
  }
  std::vector<const Node*> nodes;
  for (const auto& node : model.graph.nodes()) {
    if (needed[static_cast<size_t>(node->id())]) nodes.push_back(node.get());
  }
  return nodes;
}

int64_t CoreMemoryGib(absl::string_view topology) {
  const absl::string_view name = topology.substr(0, topology.find('-'));
  double largest = 0;
  for (const TPUGeneration& generation : TPUGenerations()) {
    const double gib = generation.memory_gib / generation.devices_per_chip;
    if (name == generation.name) return static_cast<int64_t>(gib);
    largest = std::max(largest, gib);
  }
  // A check of rules names no generation, so only what is too large for every TPU is reported.
  return static_cast<int64_t>(largest);
}

}  // namespace estimator::tpu
