#include "estimator/graph/placeholder_dependency.h"

#include <set>
#include <vector>

namespace estimator {

const Node* FindPlaceholder(const Tensor& tensor) {
  std::set<const Node*> seen;
  std::vector<const Node*> pending = {tensor.node()};
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (!seen.insert(node).second) continue;
    if (node->op() == "Placeholder") return node;
    for (const Tensor& input : node->inputs()) pending.push_back(input.node());
  }
  return nullptr;
}

}  // namespace estimator
