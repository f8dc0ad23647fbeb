#include "estimator/runtime/varies_by_replica.h"

#include <algorithm>

namespace estimator::ir {
namespace {

// Whether equal inputs give replicas different values, because each draws its own random numbers.
bool Draws(const Node& node) {
  if (node.functions.empty()) return node.kind == Node::Kind::kOp && node.stateful;
  return std::any_of(node.functions.begin(), node.functions.end(), [](const auto& body) {
    return body != nullptr && std::any_of(body->nodes.begin(), body->nodes.end(), Draws);
  });
}

}  // namespace

std::vector<char> VariesByReplica(const Module& module, int num_replicas) {
  std::vector<char> varies(module.nodes.size(), 0);
  if (num_replicas == 1) return varies;
  for (size_t n = 0; n < module.nodes.size(); ++n) {
    const Node& node = module.nodes[n];
    if (node.op == "CrossReplicaSum") {
      const Array* const groups =
          node.inputs.size() < 2 ? nullptr : module.constant(node.inputs[1]);
      // A sum over all replicas is the same on each. Sums over groups differ from group to group.
      const bool sums_all =
          node.inputs.size() < 2 ||
          (groups != nullptr && (groups->num_elements() == 0 || groups->shape().dim(0) == 1));
      varies[n] = !sums_all && At(varies, node.inputs[0].node);
      continue;
    }
    // Each replica has its own rows of the batch.
    varies[n] = node.kind == Node::Kind::kFeed || Draws(node);
    for (const Value& input : node.inputs)
      if (At(varies, input.node)) varies[n] = 1;
  }
  return varies;
}

}  // namespace estimator::ir
