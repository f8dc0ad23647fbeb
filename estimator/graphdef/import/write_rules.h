// What TensorFlow's ops do to variables: assignments, scatters and optimizers. Ops that we lack
// have a formula here: assignments, scatters, updates by rows, and some optimizers, whose formulas
// are in op_def/update_formulas.h.
// Source: TF 2.15 scatter_functor.h.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_WRITE_RULES_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_WRITE_RULES_H_

#include <map>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/array/attrs.h"
#include "estimator/graph/tensor.h"
#include "estimator/op_def/update_def.h"

namespace estimator {

// The operands of a write, by TensorFlow's names. Those that are variables have their values from
// before the write.
struct WriteOperands {
  const std::map<absl::string_view, Tensor>& operands;
  const Attrs& attrs;
  // The rows of a Unique are imported with repetitions: an index may occur twice, with equal
  // updates.
  bool repeated_indices = false;
  const UpdateDef* update = nullptr;  // of the rule

  const Tensor& operator[](absl::string_view name) const { return operands.at(name); }
};
// The graph keeps errors of shapes.
using WriteFormula = std::vector<Tensor> (*)(const WriteOperands&);

// An op that changes variables: Assign, ScatterAdd, ApplyAdam, ResourceApplyAdam.
struct WriteRule {
  // In the op's order, separated by spaces. The first num_states are the variables that it changes.
  std::string operands;
  int num_states = 1;
  std::string attrs = "";  // as ImportRule::attrs
  // The new values of the variables. Null: our op of the same name returns them.
  WriteFormula formula = nullptr;
  std::string op = "";                // the name without `Resource`
  bool by_rows = false;               // `indices` are rows of the variables
  const UpdateDef* update = nullptr;  // an optimizer's rule
};
// Null if the op changes no variable.
const WriteRule* FindWriteRule(absl::string_view op);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_WRITE_RULES_H_
