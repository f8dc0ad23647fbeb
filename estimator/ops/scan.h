// Running sums along an axis, and bands of matrices.
#ifndef ESTIMATOR_OPS_SCAN_H_
#define ESTIMATOR_OPS_SCAN_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "estimator/graph/tensor.h"

namespace estimator {

struct CumsumOptions {
  bool exclusive = false;  // without the element itself
  bool reverse = false;    // from the end
};
// tf.cumsum: [a, b, c] -> [a, a+b, a+b+c] along `axis`.
Tensor Cumsum(const Tensor& x, int axis = 0, CumsumOptions options = {},
              absl::string_view name = "Cumsum");

// tf.linalg.band_part: of every matrix [..., M, N], the diagonal, num_lower diagonals below it and
// num_upper above (negative: all), zero elsewhere.
Tensor MatrixBandPart(const Tensor& x, int64_t num_lower, int64_t num_upper,
                      absl::string_view name = "MatrixBandPart");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_SCAN_H_
