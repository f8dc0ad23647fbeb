// Converts a padding value from the double in the options to the dtype of the array.
#ifndef ESTIMATOR_DATA_PIPELINE_PADDING_VALUE_H_
#define ESTIMATOR_DATA_PIPELINE_PADDING_VALUE_H_

#include "absl/status/statusor.h"
#include "estimator/array/array.h"

namespace estimator {

// A scalar of the dtype. For strings it is "".
// Errors: INVALID_ARGUMENT if an integer dtype cannot represent the value, such as -1 in u8 or 0.5
// in i64.
absl::StatusOr<Array> PaddingValue(double value, DType dtype);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_PADDING_VALUE_H_
