#include "estimator/ops/building/matrix_rules.h"

#include <vector>

#include "estimator/base/status.h"
#include "estimator/ops/building/shape_checks.h"

namespace estimator {

absl::Status CheckMatrices(const TensorSpec& spec, absl::string_view what) {
  if (spec.dtype != DType::kFloat32 && spec.dtype != DType::kFloat64) {
    return InvalidArgument(what, " is ", DTypeName(spec.dtype),
                           ", expected float32 or float64: Cast it");
  }
  return CheckRankAtLeast(spec, 2, what);
}

absl::Status CheckSquareMatrices(const TensorSpec& spec, absl::string_view what) {
  EST_RETURN_IF_ERROR(CheckMatrices(spec, what));
  if (spec.shape.dim(-1) == spec.shape.dim(-2)) return absl::OkStatus();
  return InvalidArgument(what, " is ", spec.shape.ToString(),
                         ", expected square matrices [..., M, M]");
}

Shape BatchAxes(const Shape& shape) {
  return Shape(std::vector<int64_t>(shape.dims().begin(), shape.dims().end() - 2));
}

Shape MatrixShape(const Shape& batch, int64_t rows, int64_t columns) {
  Shape shape = batch;
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

}  // namespace estimator
