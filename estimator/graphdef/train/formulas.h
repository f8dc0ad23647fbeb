// The new values of variables, for the ops of TensorFlow that we have no op for: assignments,
// scatters, updates by rows, and some optimizers.
// Source: TF 2.15 training_ops.cc, scatter_functor.h.
#ifndef ESTIMATOR_GRAPHDEF_TRAIN_FORMULAS_H_
#define ESTIMATOR_GRAPHDEF_TRAIN_FORMULAS_H_

#include <vector>

#include "estimator/graph/tensor.h"
#include "estimator/graphdef/train/rules.h"

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

// Optimizers, for whole tensors or for rows. With the operand `indices`, the states are whole and
// `grad` has the rows; the results are whole.
std::vector<Tensor> AdagradV2Formula(const WriteOperands& in);  // also without `epsilon`
std::vector<Tensor> AdaMaxFormula(const WriteOperands& in);
std::vector<Tensor> KerasMomentumFormula(const WriteOperands& in);
std::vector<Tensor> MomentumFormula(const WriteOperands& in);
std::vector<Tensor> RMSPropFormula(const WriteOperands& in);  // with `mg`: centered
std::vector<Tensor> AdadeltaFormula(const WriteOperands& in);
std::vector<Tensor> FtrlFormula(const WriteOperands& in);  // also with `l2_shrinkage`
std::vector<Tensor> ProximalAdagradFormula(const WriteOperands& in);
std::vector<Tensor> ProximalGradientDescentFormula(const WriteOperands& in);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_TRAIN_FORMULAS_H_
