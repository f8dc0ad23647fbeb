// Running sums and products along an axis; bands and diagonals of matrices.
#ifndef ESTIMATOR_OPS_SCAN_H_
#define ESTIMATOR_OPS_SCAN_H_

#include <cstdint>
#include <string>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

struct CumsumOptions {
  bool exclusive = false;  // each result leaves out its own element
  bool reverse = false;    // runs from the end to the start
  std::string name = "";   // "": Cumsum or Cumprod
};
// tf.cumsum: [a, b, c] -> [a, a+b, a+b+c] along `axis`.
Tensor Cumsum(const Tensor& x, int axis = 0, const CumsumOptions& options = {});

// tf.math.cumprod: [a, b, c] -> [a, ab, abc] along `axis`.
Tensor Cumprod(const Tensor& x, int axis = 0, const CumsumOptions& options = {});
// tf.linalg.diag: [..., N] -> [..., N, N], with zeros off the diagonal.
Tensor MatrixDiag(const Tensor& diagonal, StringArg name = "MatrixDiag");
// tf.linalg.diag_part: [..., M, N] -> [..., min(M, N)].
Tensor MatrixDiagPart(const Tensor& x, StringArg name = "MatrixDiagPart");
// tf.math.invert_permutation: y[x[i]] = i.
//   x: i32 or i64 [N], with each number from 0 to N - 1 once.
Tensor InvertPermutation(const Tensor& x, StringArg name = "InvertPermutation");
// tf.linalg.band_part: keeps the diagonal of every matrix [..., M, N], num_lower diagonals below it
// and num_upper above it (a negative number keeps all). Other elements are zero.
Tensor MatrixBandPart(const Tensor& x, int64_t num_lower, int64_t num_upper,
                      StringArg name = "MatrixBandPart");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_SCAN_H_
