#include "tpu/stablehlo/varies_by_replica.h"

#include <algorithm>

namespace estimator::tpu::stablehlo {
namespace {

// Whether equal inputs give replicas different values, because each draws its own random numbers.
bool Draws(const ir::Node& node) {
  if (node.functions.empty()) return node.kind == ir::Node::Kind::kOp && node.stateful;
  return std::any_of(node.functions.begin(), node.functions.end(), [](const auto& body) {
    return body != nullptr && std::any_of(body->nodes.begin(), body->nodes.end(), Draws);
  });
}

}  // namespace

std::vector<char> VariesByReplica(const ir::Module& module, int num_replicas) {
  std::vector<char> varies(module.nodes.size(), 0);
  if (num_replicas == 1) return varies;
  for (size_t n = 0; n < module.nodes.size(); ++n) {
    const ir::Node& node = module.nodes[n];
    if (node.op == "CrossReplicaSum") {
      const Array* const groups = module.constant(node.inputs[1]);
      // A sum over all replicas is the same on each. Sums over groups differ from group to group.
      const bool sums_all =
          groups != nullptr && (groups->num_elements() == 0 || groups->shape().dim(0) == 1);
      varies[n] = !sums_all && ir::At(varies, node.inputs[0].node);
      continue;
    }
    // Each replica has its own rows of the batch.
    varies[n] = node.kind == ir::Node::Kind::kFeed || Draws(node);
    for (const ir::Value& input : node.inputs)
      if (ir::At(varies, input.node)) varies[n] = 1;
  }
  return varies;
}

}  // namespace estimator::tpu::stablehlo
