#include "estimator/nn/moving_average.h"

#include <vector>

#include "estimator/graph/graph.h"
#include "estimator/ops/math_binary.h"

namespace estimator {

Tensor UpdatedValue(const Operation& operation, const Variable& variable) {
  Tensor value = variable.read();
  if (!operation.valid()) return value;
  for (const Node* update : CollectAssigns({operation})) {
    if (update->input(0).node() != variable.node()) continue;
    value = update->op() == "AssignAdd" ? value + update->input(1) : update->input(1);
  }
  return value;
}

Operation AssignMovingAverage(const Variable& variable, const Tensor& value, const Operand& decay) {
  Tensor start = variable.read();
  if (variable.valid()) {
    Graph& graph = GraphFor({variable.read(), value});
    // In a branch, whose last update counts.
    for (const Graph::BodyUpdate& update : graph.body_updates()) {
      if (update.variable.node() == variable.node()) start = update.value;
    }
    std::vector<Operation>& updates = graph.update_ops();
    for (size_t i = 0; i < updates.size(); ++i) {
      const bool same = updates[i].valid() && updates[i].node()->op() == "Assign" &&
                        updates[i].node()->input(0).node() == variable.node();
      if (!same) continue;
      start = updates[i].node()->input(1);
      updates.erase(updates.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  }
  // 1 - decay is computed in double and then rounded to the dtype, as in Python, so that the bits
  // are TensorFlow's.
  const Tensor step = decay.is_number() ? (start - value) * (1 - decay.number())
                                        : (start - value) * (1 - decay.tensor());
  return Assign(variable, start - step, "AssignMovingAvg");
}

}  // namespace estimator
