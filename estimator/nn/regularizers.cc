#include "estimator/nn/regularizers.h"

#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"

namespace estimator::regularizers {

Regularizer L1(double scale) {
  return [scale](const Tensor& variable) { return ReduceSum(Abs(variable)) * scale; };
}

Regularizer L2(double scale) {
  return [scale](const Tensor& variable) { return L2Loss(variable) * scale; };
}

Regularizer L1L2(double scale_l1, double scale_l2) {
  return [l1 = L1(scale_l1), l2 = L2(scale_l2)](const Tensor& variable) {
    return l1(variable) + l2(variable);
  };
}

}  // namespace estimator::regularizers
