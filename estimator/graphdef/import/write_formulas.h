// The new values of variables, for the ops of TensorFlow that we have no op for: assignments,
// scatters, updates by rows, and some optimizers, whose formulas are in op_def/update_formulas.h.
// Source: TF 2.15 scatter_functor.h.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_WRITE_FORMULAS_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_WRITE_FORMULAS_H_

#include <vector>

#include "estimator/graph/tensor.h"
#include "estimator/graphdef/import/write_rules.h"

namespace estimator {

// Each function is a WriteFormula. The graph keeps errors of shapes.
std::vector<Tensor> AssignFormula(const WriteOperands& in);
std::vector<Tensor> AssignAddFormula(const WriteOperands& in);
std::vector<Tensor> AssignSubFormula(const WriteOperands& in);
std::vector<Tensor> ScatterAddFormula(const WriteOperands& in);
std::vector<Tensor> ScatterSubFormula(const WriteOperands& in);
std::vector<Tensor> ScatterUpdateFormula(const WriteOperands& in);
std::vector<Tensor> ScatterNdAddFormula(const WriteOperands& in);
std::vector<Tensor> ScatterNdSubFormula(const WriteOperands& in);
std::vector<Tensor> ScatterNdUpdateFormula(const WriteOperands& in);

// An optimizer's rule for which in.update says what the operands are. With the operand `indices`,
// the states are whole and `grad` has rows of them; the results are whole.
std::vector<Tensor> UpdateFormula(const WriteOperands& in);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_WRITE_FORMULAS_H_
