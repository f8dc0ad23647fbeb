// The value of a tensor that depends on no placeholder, no variable and no random op.
#ifndef ESTIMATOR_GRAPH_CONSTANT_VALUE_H_
#define ESTIMATOR_GRAPH_CONSTANT_VALUE_H_

#include <cstdint>
#include <optional>

#include "estimator/array/array.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// The value of `tensor`, computed with the reference kernels while the graph is built.
//   max_elements: the largest number of elements that any needed tensor may have.
// Returns nullopt if the tensor depends on a placeholder, a variable or a random op, or if a needed
// tensor is larger than that. Shapes are static, so Shape, Size and Rank are constants.
// Source: the role of TF 2.15 tensor_util.constant_value.
std::optional<Array> ConstantValue(const Tensor& tensor, int64_t max_elements = 4096);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_CONSTANT_VALUE_H_
