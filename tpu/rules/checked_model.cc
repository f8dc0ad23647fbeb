#include "tpu/rules/checked_model.h"

#include <algorithm>
#include <set>
#include <utility>

#include "estimator/graph/function.h"
#include "estimator/graph/needed_nodes.h"
#include "tpu/cluster/tpu_slice.h"
#include "tpu/rules/report.h"

namespace estimator::tpu {

ProgramNodes::ProgramNodes(const CheckedModel& model) {
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
  Add(model.graph, std::move(pending), {});
}

void ProgramNodes::Add(const Graph& graph, std::vector<const Node*> pending, const Place& around) {
  for (const Node* node : NeededNodes(graph, std::move(pending))) {
    if (sources_.count(node) > 0) continue;
    const Place place = {around.prefix,
                         around.in_gradient || graph.gradient_nodes().count(node) > 0};
    all_.push_back(node);
    places_.emplace(node, place);
    AddBodies(*node, place);
  }
}

void ProgramNodes::AddBodies(const Node& node, const Place& place) {
  const bool is_loop = node.op() == "While";
  for (const auto& function : node.functions()) {
    if (function == nullptr) continue;
    for (size_t k = 0; k < function->parameters().size(); ++k) {
      // The inputs of a loop begin with the number of trips, then come those of the parameters.
      Tensors& sources = sources_[function->parameters()[k].node()];
      sources = {node.input(static_cast<int>(k) + 1)};
      if (is_loop && static_cast<int64_t>(k) < node.attrs().i("num_carried"))
        sources.push_back(node.functions().back()->results()[k]);
    }
    for (size_t k = 0; k < function->captures().size(); ++k)
      sources_[function->captured()[k].node()] = {function->captures()[k]};
  }
  for (const auto& function : node.functions()) {
    if (function == nullptr) continue;
    std::vector<const Node*> results;
    for (const Tensor& result : function->results()) results.push_back(result.node());
    Add(function->graph(), std::move(results),
        {absl::StrCat(place.prefix, node.name(), "/"), place.in_gradient});
  }
}

std::string ProgramNodes::NameOf(const Node& node) const {
  return places_.at(&node).prefix + tpu::NameOf(node);
}

Tensors ProgramNodes::Sources(const Node& placeholder) const {
  const auto found = sources_.find(&placeholder);
  return found == sources_.end() ? Tensors() : found->second;
}

bool ProgramNodes::DependsOnInput(const Tensor& tensor) const {
  std::set<const Node*> seen;
  std::vector<const Node*> pending = {tensor.node()};
  while (!pending.empty()) {
    const Node* const node = pending.back();
    pending.pop_back();
    if (!seen.insert(node).second) continue;
    if (node->op() == "Placeholder" && sources_.count(node) == 0) return true;
    for (const Tensor& input : node->inputs()) pending.push_back(input.node());
    for (const Tensor& source : Sources(*node)) pending.push_back(source.node());
  }
  return false;
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
