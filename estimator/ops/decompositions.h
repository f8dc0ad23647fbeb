// Decompositions of batches of matrices, f32 or f64. Kernels run on one thread. The sign of a
// vector of a decomposition is arbitrary; it is that of Eigen's algorithms, which TensorFlow takes,
// too.
#ifndef ESTIMATOR_OPS_DECOMPOSITIONS_H_
#define ESTIMATOR_OPS_DECOMPOSITIONS_H_

#include <string>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

struct QrOptions {
  bool full_matrices = false;
  std::string name = "Qr";
};
struct QrResult {
  Tensor q;  // [..., M, P], with orthonormal columns; P = min(M, N), or M with full_matrices
  Tensor r;  // [..., P, N], upper triangular
};
// tf.linalg.qr: x = q r.  x: [..., M, N].
// Errors of the gradient: UNIMPLEMENTED with full_matrices if M > N.
QrResult Qr(const Tensor& x, const QrOptions& options = {});

struct SvdOptions {
  bool full_matrices = false;
  bool compute_uv = true;  // false: u and v have no elements, shape [0]
  std::string name = "Svd";
};
struct SvdResult {
  Tensor s;  // [..., P], the singular values in descending order; P = min(M, N)
  Tensor u;  // [..., M, P], or [..., M, M] with full_matrices
  Tensor v;  // [..., N, P], or [..., N, N] with full_matrices
};
// tf.linalg.svd: x = u diag(s) v^T.  x: [..., M, N]. NaN in a matrix gives NaN in its results.
// The gradient of u and v is large if two singular values are nearly equal.
// Errors of the gradient: UNIMPLEMENTED with full_matrices if u or v is used and M and N differ by
// more than 1.
SvdResult Svd(const Tensor& x, const SvdOptions& options = {});

struct SelfAdjointEigResult {
  Tensor e;  // [..., M], the eigenvalues in ascending order
  Tensor v;  // [..., M, M]; column k is the eigenvector of e[..., k]
};
// tf.linalg.eigh: x = v diag(e) v^T.
//   x: [..., M, M], symmetric. Only the lower triangle is read.
// The gradient of v is large if two eigenvalues are nearly equal.
// Errors of the step: INVALID_ARGUMENT "Self-adjoint eigen decomposition was not successful." for
// NaN and infinities.
SelfAdjointEigResult SelfAdjointEig(const Tensor& x, StringArg name = "SelfAdjointEigV2");
// tf.linalg.eigvalsh: only the eigenvalues.
Tensor SelfAdjointEigvals(const Tensor& x, StringArg name = "SelfAdjointEigV2");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_DECOMPOSITIONS_H_
