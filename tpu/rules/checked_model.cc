#include "tpu/rules/checked_model.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_split.h"

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
  // Source: https://cloud.google.com/tpu/docs/system-architecture-tpu-vm. A v2 or v3 chip has two
  // cores; of the others, one program uses the memory of a whole chip.
  static constexpr std::pair<absl::string_view, int64_t> kMemory[] = {
      {"v2", 8}, {"v3", 16}, {"v4", 32}, {"v5e", 16}, {"v6e", 32}, {"v5p", 95}};
  int64_t largest = 0;
  const std::vector<absl::string_view> parts = absl::StrSplit(topology, '-');
  for (const auto& [name, gib] : kMemory) {
    if (name == parts[0]) return gib;
    largest = std::max(largest, gib);
  }
  return largest;
}

}  // namespace estimator::tpu
