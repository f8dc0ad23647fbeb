#include "estimator/runtime/passes/write_copies.h"

#include <map>
#include <set>
#include <vector>

#include "estimator/kernels/fused/update_sweep.h"
#include "estimator/runtime/passes/derive_values.h"

namespace estimator::ir {

void WriteCopies(Module& module, const Schedule& schedule) {
  const std::vector<int> phase(schedule.order.begin() + schedule.updates_begin,
                               schedule.order.end());
  std::set<int> read_later;  // nodes whose values the update phase reads
  for (const int n : phase) {
    for (const Value& input : module.node(n).inputs) read_later.insert(Root(module, input).node);
  }
  std::map<int, Value> copy_of;  // of each variable
  for (int n = 0; n < module.num_nodes(); ++n) {
    const Node& node = module.node(n);
    // What the phase reads later must still be the value from before the step.
    if (node.derived && node.kept && IsBfloat16Copy(module, node) && read_later.count(n) == 0)
      copy_of.emplace(module.node(Root(module, node.inputs[0])).index, Value{n, 0});
  }
  for (const int n : phase) {
    Node& node = module.node(n);
    auto* const sweep = dynamic_cast<fused::UpdateSweep*>(node.kernel.get());
    if (sweep == nullptr) continue;
    std::vector<int> outputs;
    for (int o = 0; o < static_cast<int>(node.outputs.size()); ++o) {
      const auto variable = schedule.in_place.find({n, o});
      if (variable == schedule.in_place.end()) continue;
      const auto copy = copy_of.find(variable->second);
      if (copy == copy_of.end()) continue;
      outputs.push_back(o);
      node.copies.push_back(copy->second);
    }
    // A new kernel: the old one is still that of a sweep without copies.
    if (!outputs.empty()) node.kernel = sweep->WithBfloat16Copies(outputs);
  }
}

}  // namespace estimator::ir
