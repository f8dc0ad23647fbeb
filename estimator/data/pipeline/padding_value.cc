#include "estimator/data/pipeline/padding_value.h"

#include "estimator/base/status.h"

namespace estimator {

absl::StatusOr<Array> PaddingValue(double value, DType dtype) {
  if (dtype == DType::kString) return Array::String("");
  // Cast saturates and truncates to an integer dtype. The comparison finds both.
  Array padding = Array::Scalar(value).Cast(dtype);
  if (IsInteger(dtype) && padding.AsDouble() != value) {
    return InvalidArgument("the padding ", value, " cannot be represented in ", DTypeName(dtype),
                           "; give another value");
  }
  return padding;
}

}  // namespace estimator
