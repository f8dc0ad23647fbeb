// The check that functions of images [H,W,C] and [N,H,W,C] begin with.
#ifndef ESTIMATOR_IMAGE_CHECK_IMAGE_H_
#define ESTIMATOR_IMAGE_CHECK_IMAGE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"

namespace estimator::image {

// Errors: INVALID_ARGUMENT if the array holds strings or is invalid.
//   function: the name that begins the message.
absl::Status CheckHoldsNumbers(absl::string_view function, const Array& array);

// Errors: those of CheckHoldsNumbers; INVALID_ARGUMENT if the rank is not 3 or 4, or if the image
// has no rows, columns or channels.
absl::Status CheckImage(absl::string_view function, const Array& image);

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_CHECK_IMAGE_H_
