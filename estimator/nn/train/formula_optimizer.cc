#include "estimator/nn/train/formula_optimizer.h"

#include <algorithm>

#include "estimator/op_def/update_def.h"
#include "estimator/ops/optimizer_ops.h"
#include "glog/logging.h"

namespace estimator::train {
namespace {

const UpdateDef& DefOf(const Update& update) {
  const UpdateDef* const def = FindUpdateOp(update.op);
  CHECK(def != nullptr) << update.op;
  return *def;
}

std::vector<Variable> StatesOf(const Update& update, const Variable& variable) {
  std::vector<Variable> states = {variable};
  states.insert(states.end(), update.slots.begin(), update.slots.end());
  return states;
}

// The op's operands in its order: the states, the gradient and the hyperparameters.
std::vector<Tensor> OperandsOf(const Update& update, std::vector<Tensor> states,
                               const Tensor& gradient) {
  const UpdateDef& def = DefOf(update);
  CHECK_EQ(static_cast<int>(states.size()), def.num_states) << def.op;
  std::vector<Tensor> operands = std::move(states);
  for (int i = def.num_states; i < def.num_operands(); ++i) {
    const auto number = std::find_if(update.numbers.begin(), update.numbers.end(),
                                     [&](const auto& n) { return n.first == def.operand(i); });
    CHECK(i == def.gradient() || number != update.numbers.end())
        << def.op << " needs " << def.operand(i);
    operands.push_back(i == def.gradient() ? gradient : number->second);
  }
  return operands;
}

}  // namespace

std::vector<Operation> ApplyToAll(const Update& update, const Tensor& gradient,
                                  const Variable& variable) {
  const std::vector<Variable> states = StatesOf(update, variable);
  const std::vector<Tensor> next = ApplyUpdate(
      DefOf(update), OperandsOf(update, {states.begin(), states.end()}, gradient), update.flag);
  std::vector<Operation> updates;
  for (size_t i = 0; i < states.size(); ++i) updates.push_back(Assign(states[i], next[i]));
  return updates;
}

std::vector<Operation> ApplyToRows(const Update& update, const RowGradient& gradient,
                                   const Variable& variable) {
  const UpdateDef& def = DefOf(update);
  const bool same = def.rows == RowUpdates::kSameResult;
  const std::vector<Variable> states = StatesOf(update, variable);
  std::vector<Tensor> rows;
  for (const Variable& state : states) rows.push_back(gradient.Of(state));
  const std::vector<Tensor> operands = OperandsOf(update, std::move(rows), gradient.rows());
  // If the table is looked up in one place, the op gives the bits of the dense update.
  const std::vector<Tensor> next =
      same ? ApplyUpdate(def, operands, update.flag) : ComputeUpdate(def, operands, update.flag);
  std::vector<Operation> updates;
  for (size_t i = 0; i < states.size(); ++i) updates.push_back(gradient.Assign(states[i], next[i]));
  return updates;
}

std::vector<Operation> FormulaOptimizer::ApplyDense(const Tensor& gradient,
                                                    const Variable& variable) {
  return ApplyToAll(UpdateOf(variable), gradient, variable);
}

std::vector<Operation> FormulaOptimizer::ApplySparse(const RowGradient& gradient,
                                                     const Variable& variable) {
  const Update update = UpdateOf(variable);
  const RowUpdates rows = DefOf(update).rows;
  // Where both ways are right, the cheaper one is taken.
  if (rows == RowUpdates::kAllRows || (rows == RowUpdates::kSameResult && !gradient.FewerThanAll()))
    return ApplyToAll(update, gradient.dense(), variable);
  return ApplyToRows(update, gradient, variable);
}

}  // namespace estimator::train
