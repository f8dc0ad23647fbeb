// The sum over replicas that stands between two segments.
#ifndef TPU_ALL_REDUCE_H_
#define TPU_ALL_REDUCE_H_

#include <vector>

#include "absl/status/status.h"
#include "estimator/array/tensor_spec.h"

namespace estimator::tpu {

// Element i of every output becomes the sum of element i of all inputs, in their order (16-bit
// floats are summed in float32). An output may be the input of the same replica. Errors:
// UNIMPLEMENTED for strings and bools.
absl::Status AllReduceSum(const TensorSpec& spec, const std::vector<const void*>& inputs,
                          const std::vector<void*>& outputs);

}  // namespace estimator::tpu

#endif  // TPU_ALL_REDUCE_H_
