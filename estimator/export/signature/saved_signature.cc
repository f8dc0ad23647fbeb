#include "estimator/export/signature/saved_signature.h"

#include "absl/strings/str_cat.h"
#include "estimator/graphdef/import/op_support.h"

namespace estimator {

std::string SavedTensor::ToString() const {
  return absl::StrCat(DTypeShortName(dtype), " ", shape.has_value() ? shape->ToString() : "?");
}

bool SavedTensor::Takes(DType given, const Shape& given_shape) const {
  return given == dtype && (!shape.has_value() || FitsShape(given_shape, *shape));
}

}  // namespace estimator
