// Shape checks that the ops of linear algebra share. Only for ops.
#ifndef ESTIMATOR_OPS_BUILDING_MATRIX_RULES_H_
#define ESTIMATOR_OPS_BUILDING_MATRIX_RULES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/array/tensor_spec.h"

namespace estimator {

// Errors: INVALID_ARGUMENT if the type is neither f32 nor f64, or if the rank is below 2.
absl::Status CheckMatrices(const TensorSpec& spec, absl::string_view what);
// The same. Errors: also if the last two axes differ.
absl::Status CheckSquareMatrices(const TensorSpec& spec, absl::string_view what);

// The axes before the last two.
Shape BatchAxes(const Shape& shape);
// `batch` followed by rows and columns.
Shape MatrixShape(const Shape& batch, int64_t rows, int64_t columns);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_BUILDING_MATRIX_RULES_H_
