#include "estimator/data/pipeline/padding_value.h"

#include "absl/strings/str_cat.h"

namespace estimator {

absl::StatusOr<Array> PaddingValue(double value, DType dtype) {
  if (dtype == DType::kString) return Array::String("");
  Array padding = Array::Scalar(value).Cast(dtype);  // to the nearest number there is
  if (IsInteger(dtype) && padding.AsDouble() != value) {
    return absl::InvalidArgumentError(
        absl::StrCat("the padding ", value, " is no ", DTypeName(dtype), "; give one that is"));
  }
  return padding;
}

}  // namespace estimator
