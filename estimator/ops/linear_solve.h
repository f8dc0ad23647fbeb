// Linear systems, inverses and determinants of batches of matrices, f32 or f64. As in TensorFlow,
// each op has a gradient. Kernels run on one thread. They compute f32 in f64, and round once.
#ifndef ESTIMATOR_OPS_LINEAR_SOLVE_H_
#define ESTIMATOR_OPS_LINEAR_SOLVE_H_

#include <string>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// tf.linalg.cholesky: the lower triangular L with x = L L^T.
//   x: [..., M, M], symmetric and positive definite. Only the lower triangle is read.
// Errors of the step: INVALID_ARGUMENT if a matrix is not positive definite. (TensorFlow 2.15
// logs a warning on the CPU and continues with NaN.)
Tensor Cholesky(const Tensor& x, StringArg name = "Cholesky");
// tf.linalg.cholesky_solve: X with A X = rhs, from the Cholesky factor of A.
//   cholesky: [..., M, M], the result of Cholesky(A).  rhs: [..., M, K].  Returns [..., M, K].
Tensor CholeskySolve(const Tensor& cholesky, const Tensor& rhs, StringArg name = "cholesky_solve");

struct MatrixInverseOptions {
  bool adjoint = false;  // inverts the transpose
  std::string name = "MatrixInverse";
};
// tf.linalg.inv.  x: [..., M, M].  Returns [..., M, M].
// Errors of the step: INVALID_ARGUMENT "Input is not invertible." if a matrix is singular.
Tensor MatrixInverse(const Tensor& x, const MatrixInverseOptions& options = {});

struct MatrixSolveOptions {
  bool adjoint = false;  // solves with the transpose of the matrix
  std::string name = "MatrixSolve";
};
// tf.linalg.solve: X with matrix X = rhs.
//   matrix: [..., M, M].  rhs: [..., M, K], with the same leading axes.  Returns [..., M, K].
// Errors of the step: INVALID_ARGUMENT "Input matrix is not invertible." if a matrix is singular.
Tensor MatrixSolve(const Tensor& matrix, const Tensor& rhs, const MatrixSolveOptions& options = {});

struct MatrixTriangularSolveOptions {
  bool lower = true;     // reads the lower triangle, false: the upper one
  bool adjoint = false;  // solves with the transpose of that triangle
  std::string name = "MatrixTriangularSolve";
};
// tf.linalg.triangular_solve: X with matrix X = rhs for a triangular matrix.
//   matrix: [..., M, M].  rhs: [..., M, K].  Leading axes broadcast.  Returns [..., M, K].
// A zero on the diagonal gives infinity or NaN.
Tensor MatrixTriangularSolve(const Tensor& matrix, const Tensor& rhs,
                             const MatrixTriangularSolveOptions& options = {});

struct MatrixSolveLsOptions {
  // A multiple of |X|^2 that is added to the squared error. Only with `fast`.
  double l2_regularizer = 0;
  // By the normal equations. False: by a complete orthogonal decomposition, which takes matrices
  // without full rank, is slower and has no gradient.
  bool fast = true;
  std::string name = "MatrixSolveLs";
};
// tf.linalg.lstsq: the least-squares solution X of matrix X = rhs. If M < N it is the one with the
// smallest norm.
//   matrix: [..., M, N].  rhs: [..., M, K], with the same leading axes.  Returns [..., N, K].
// Errors of the step: INVALID_ARGUMENT "Input matrix was rank deficient or ill-conditioned." with
// `fast`.
Tensor MatrixSolveLs(const Tensor& matrix, const Tensor& rhs,
                     const MatrixSolveLsOptions& options = {});

// tf.linalg.det.  x: [..., M, M].  Returns [...]. The gradient needs invertible matrices.
Tensor MatrixDeterminant(const Tensor& x, StringArg name = "MatrixDeterminant");

struct LogMatrixDeterminantResult {
  Tensor sign;                 // [...]: -1, 0 or 1
  Tensor log_abs_determinant;  // [...]; -infinity if the matrix is singular
};
// tf.linalg.slogdet: the sign and the logarithm of the absolute value of the determinant.
//   x: [..., M, M]. The gradient needs invertible matrices.
LogMatrixDeterminantResult LogMatrixDeterminant(const Tensor& x,
                                                StringArg name = "LogMatrixDeterminant");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_LINEAR_SOLVE_H_
