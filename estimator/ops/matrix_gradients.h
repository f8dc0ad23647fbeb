// Small functions that the gradients of linear algebra share. Only for ops.
#ifndef ESTIMATOR_OPS_MATRIX_GRADIENTS_H_
#define ESTIMATOR_OPS_MATRIX_GRADIENTS_H_

#include "estimator/graph/tensor.h"

namespace estimator {

// a b^T and a^T b, for every matrix of a batch.
Tensor MulT(const Tensor& a, const Tensor& b);
Tensor TMul(const Tensor& a, const Tensor& b);
// x with its last two axes exchanged.
Tensor TransposeMatrix(const Tensor& x);
// x with its diagonals halved.
Tensor HalveDiagonal(const Tensor& x);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_MATRIX_GRADIENTS_H_
