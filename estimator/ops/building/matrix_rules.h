// Shape checks and small functions that the ops of linear algebra share. Only for ops.
#ifndef ESTIMATOR_OPS_BUILDING_MATRIX_RULES_H_
#define ESTIMATOR_OPS_BUILDING_MATRIX_RULES_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// Errors: INVALID_ARGUMENT if the type is neither f32 nor f64, or if the rank is below 2.
absl::Status CheckMatrices(const TensorSpec& spec, absl::string_view what);
// The same. Errors: also if the last two axes differ.
absl::Status CheckSquareMatrices(const TensorSpec& spec, absl::string_view what);

// The axes before the last two.
Shape BatchAxes(const Shape& shape);
// `batch` followed by rows and columns.
Shape MatrixShape(const Shape& batch, int64_t rows, int64_t columns);

// x with its last two axes exchanged.
Tensor TransposeMatrix(const Tensor& x);
// x with its diagonals halved.
Tensor HalveDiagonal(const Tensor& x);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_BUILDING_MATRIX_RULES_H_
