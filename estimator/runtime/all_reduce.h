// The sum over replicas that the CPU backend computes between two segments of a program.
#ifndef ESTIMATOR_RUNTIME_ALL_REDUCE_H_
#define ESTIMATOR_RUNTIME_ALL_REDUCE_H_

#include <vector>

#include "absl/status/status.h"
#include "estimator/array/tensor_spec.h"

namespace estimator {

// Sets element i of every output to the sum of element i of all inputs, added in their order.
// 16-bit floats are summed in float32. An output may be the same memory as the input of its
// replica.
//   spec: the type of every input and output.
// Errors: UNIMPLEMENTED for strings and bools.
absl::Status AllReduceSum(const TensorSpec& spec, const std::vector<const void*>& inputs,
                          const std::vector<void*>& outputs);

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_ALL_REDUCE_H_
