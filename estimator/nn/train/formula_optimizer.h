// FormulaOptimizer: an optimizer whose rule is an op of op_def/update_formulas.h. It names the op
// and its operands:
//
//   class Adagrad : public FormulaOptimizer {
//    protected:
//     Update UpdateOf(const Variable& variable) override {
//       return {.op = "ApplyAdagrad",
//               .slots = {GetSlot(variable, "accumulator", {.name = name()})},
//               .numbers = {{"lr", Rate(variable)}},
//               .flag = true};
//     }
//   };
#ifndef ESTIMATOR_NN_TRAIN_FORMULA_OPTIMIZER_H_
#define ESTIMATOR_NN_TRAIN_FORMULA_OPTIMIZER_H_

#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/train/optimizer.h"
#include "estimator/nn/train/row_gradient.h"

namespace estimator::train {

// The update of one variable in this step.
struct Update {
  absl::string_view op;
  std::vector<Variable> slots = {};  // the states of the op after the variable, in its order
  // The hyperparameters by the op's names, in the variable's dtype.
  std::vector<std::pair<absl::string_view, Tensor>> numbers = {};
  bool flag = false;  // the op's attribute, such as use_nesterov
};

// Returns the updates of the variable and of its slots. REQUIRES: `update.numbers` are all
// hyperparameters of the op.
std::vector<Operation> ApplyToAll(const Update& update, const Tensor& gradient,
                                  const Variable& variable);

// The same for the looked-up rows only, whatever the op's UpdateDef::rows says.
std::vector<Operation> ApplyToRows(const Update& update, const RowGradient& gradient,
                                   const Variable& variable);

class FormulaOptimizer : public Optimizer {
 protected:
  using Optimizer::Optimizer;

  virtual Update UpdateOf(const Variable& variable) = 0;

  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override;
  // Changes the rows that the op's UpdateDef::rows asks for.
  std::vector<Operation> ApplySparse(const RowGradient& gradient,
                                     const Variable& variable) override;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_FORMULA_OPTIMIZER_H_
