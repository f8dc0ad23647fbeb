// The value that fills an array up, from the double that the options hold.
#ifndef ESTIMATOR_DATA_PIPELINE_PADDING_VALUE_H_
#define ESTIMATOR_DATA_PIPELINE_PADDING_VALUE_H_

#include "absl/status/statusor.h"
#include "estimator/array/array.h"

namespace estimator {

// A scalar of the dtype; strings are padded with "".
// Errors: INVALID_ARGUMENT where an integer dtype does not hold the value: -1 as u8, 0.5 as i64.
absl::StatusOr<Array> PaddingValue(double value, DType dtype);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_PADDING_VALUE_H_
