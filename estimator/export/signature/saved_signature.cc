#include "estimator/export/signature/saved_signature.h"

#include "absl/strings/str_cat.h"

namespace estimator {

std::string SavedTensor::ToString() const {
  return absl::StrCat(DTypeShortName(dtype), " ", shape.has_value() ? shape->ToString() : "?");
}

bool SavedTensor::Takes(DType given, const Shape& given_shape) const {
  if (given != dtype) return false;
  if (!shape.has_value()) return true;
  if (shape->rank() != given_shape.rank()) return false;
  for (int axis = 0; axis < shape->rank(); ++axis) {
    const int64_t size = shape->dim(axis);
    if (size != Shape::kUnknownDim && size != given_shape.dim(axis)) return false;
  }
  return true;
}

}  // namespace estimator
