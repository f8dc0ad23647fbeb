#include "estimator/runtime/passes/sweep_updates.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "estimator/base/strings.h"
#include "estimator/kernels/fused/update_sweep.h"
#include "estimator/runtime/passes/schedule.h"

namespace estimator::ir {
void SweepUpdates(Module& module) {
  const std::vector<std::vector<int>> readers = Readers(module);
  const std::vector<char> only_updates = OnlyUpdates(module);
  const std::vector<int> levels = Levels(module);
  std::map<int, std::vector<int>> nodes_of_level;  // the nodes to sweep
  for (size_t n = 0; n < module.nodes.size(); ++n) {
    const Node& node = module.nodes[n];
    if (node.kind != Node::Kind::kOp || !only_updates[n] || node.origin != nullptr ||
        dynamic_cast<const fused::UpdateKernel*>(node.kernel.get()) == nullptr)
      continue;
    // A node that another one reads must run at its own place.
    if (std::all_of(readers[n].begin(), readers[n].end(), [](int r) { return r < 0; }))
      nodes_of_level[levels[n]].push_back(static_cast<int>(n));
  }
  Replacements to(module.nodes.size());
  for (const auto& [level, nodes] : nodes_of_level) {
    // Updates of different levels wait for different collectives.
    if (nodes.size() < 2) continue;
    Node sweep;
    sweep.op = "_UpdateSweep";
    std::vector<std::string> names;
    for (const int n : nodes) names.push_back(module.node(n).name);
    sweep.name = JoinSome(names, 1);
    auto origin = std::make_shared<Origin>();
    std::vector<fused::SweepMember> members;
    const int index = module.num_nodes();
    for (const int n : nodes) {
      const Node& node = module.node(n);
      const std::vector<Value> inputs = OwnInputs(node, static_cast<int>(sweep.inputs.size()));
      for (const Value& output : AppendSteps(node, inputs, *origin))
        origin->outputs.push_back(output);
      members.push_back({.kernel = std::dynamic_pointer_cast<fused::UpdateKernel>(node.kernel),
                         .num_inputs = static_cast<int>(node.inputs.size()),
                         .num_outputs = static_cast<int>(node.outputs.size())});
      for (size_t o = 0; o < node.outputs.size(); ++o) {
        At(to, n).push_back({index, static_cast<int>(sweep.outputs.size())});
        sweep.outputs.push_back(node.outputs[o]);
      }
      sweep.inputs.insert(sweep.inputs.end(), node.inputs.begin(), node.inputs.end());
    }
    sweep.origin = std::move(origin);
    sweep.kernel = fused::MakeUpdateSweep(std::move(members));
    module.num_fused_nodes += static_cast<int>(nodes.size());
    module.Add(std::move(sweep));
  }
  ReplaceUses(module, to);
  Compact(module);
}

}  // namespace estimator::ir
