#include "estimator/runtime/passes/prune.h"

#include <utility>
#include <vector>

namespace estimator::ir {

void Prune(Module& module) {
  // An update of a variable to its own value changes nothing.
  std::erase_if(module.updates, [&module](const Update& update) {
    const Node& source = module.node(Root(module, update.value));
    return source.kind == Node::Kind::kVariable && source.index == update.variable;
  });
  Compact(module);

  // Without their nodes, some variables may be unused, so the others get new numbers.
  std::vector<char> used(module.variables.size(), 0);
  for (const Node& node : module.nodes) {
    if (node.kind == Node::Kind::kVariable) At(used, node.index) = 1;
  }
  for (const Update& update : module.updates) At(used, update.variable) = 1;
  std::vector<int> new_index(module.variables.size(), -1);
  std::vector<Variable> variables;
  for (size_t v = 0; v < module.variables.size(); ++v) {
    if (!used[v]) continue;
    new_index[v] = static_cast<int>(variables.size());
    variables.push_back(std::move(module.variables[v]));
  }
  module.variables = std::move(variables);
  for (Node& node : module.nodes) {
    if (node.kind == Node::Kind::kVariable) node.index = At(new_index, node.index);
  }
  for (Update& update : module.updates) update.variable = At(new_index, update.variable);
}

}  // namespace estimator::ir
