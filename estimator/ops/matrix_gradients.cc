#include "estimator/ops/matrix_gradients.h"

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/scan.h"

namespace estimator {

Tensor MulT(const Tensor& a, const Tensor& b) { return MatMul(a, b, {.transpose_b = true}); }
Tensor TMul(const Tensor& a, const Tensor& b) { return MatMul(a, b, {.transpose_a = true}); }

Tensor TransposeMatrix(const Tensor& x) {
  if (!x.valid()) return x;
  std::vector<int64_t> perm(static_cast<size_t>(x.rank()));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return Transpose(x, perm);
}

Tensor HalveDiagonal(const Tensor& x) { return x - MatrixDiag(MatrixDiagPart(x) * 0.5); }

}  // namespace estimator
