#include "estimator/image/check_image.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator::image {

absl::Status CheckHoldsNumbers(absl::string_view function, const Array& array) {
  if (DTypeSize(array.dtype()) > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(function, ": expects numbers, got ", array.TypeString(),
                   array.dtype() == DType::kString ? "; decode the image first" : ""));
}

absl::Status CheckImage(absl::string_view function, const Array& image) {
  EST_RETURN_IF_ERROR(CheckHoldsNumbers(function, image));
  const Shape& shape = image.shape();
  if (shape.rank() != 3 && shape.rank() != 4) {
    return absl::InvalidArgumentError(absl::StrCat(
        function, ": image must have either 3 or 4 dimensions, [H,W,C] or [N,H,W,C], got ",
        image.TypeString()));
  }
  for (const int axis : {-3, -2, -1}) {
    if (shape.dim(axis) > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(function, ": inner 3 dims of image must be > 0, got ", image.TypeString()));
  }
  return absl::OkStatus();
}

}  // namespace estimator::image
