// Converts numbers from the range of one dtype to that of another.
#ifndef ESTIMATOR_IMAGE_CONVERT_DTYPE_H_
#define ESTIMATOR_IMAGE_CONVERT_DTYPE_H_

#include "estimator/array/array.h"

namespace estimator::image {

// As ConvertImageDtype (color.h), without its checks. The result may share the bytes of `image` if
// the dtypes are equal.
// REQUIRES: both dtypes are integers or floats.
Array ConvertNumbers(const Array& image, DType dtype, bool saturate);

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_CONVERT_DTYPE_H_
