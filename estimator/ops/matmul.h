// Matrix products.
#ifndef ESTIMATOR_OPS_MATMUL_H_
#define ESTIMATOR_OPS_MATMUL_H_

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

struct MatMulOptions {
  bool transpose_a = false;  // a is stored [..., K, M]
  bool transpose_b = false;  // b is stored [..., N, K]
};

// tf.matmul: out[..., i, j] = sum_k a[..., i, k] * b[..., k, j].
//   a: [..., M, K], b: [..., K, N], of one dtype: floating, i32 or i64.  Returns [..., M, N].
// Two matrices give a MatMul. Higher ranks give a BatchMatMulV2, whose leading axes broadcast.
// Errors: INVALID_ARGUMENT if a rank is below 2, if dtypes or inner sizes differ, or if leading
// axes do not broadcast.
Tensor MatMul(const Tensor& a, const Tensor& b, const MatMulOptions& options = {},
              StringArg name = "");

struct BatchMatMulOptions {
  bool adj_x = false;  // x is stored [..., K, M]
  bool adj_y = false;  // y is stored [..., N, K]
};

// The same for any rank from 2, always as a BatchMatMulV2.
Tensor BatchMatMulV2(const Tensor& x, const Tensor& y, const BatchMatMulOptions& options = {},
                     StringArg name = "");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_MATMUL_H_
