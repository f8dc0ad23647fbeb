// The value of a tensor that does not depend on anything fed, stored or random.
#ifndef ESTIMATOR_GRAPH_CONSTANT_VALUE_H_
#define ESTIMATOR_GRAPH_CONSTANT_VALUE_H_

#include <cstdint>
#include <optional>

#include "estimator/array/array.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// Evaluates `tensor` with the reference kernels if all it needs is constant and none of it has
// more than `max_elements` elements; nullopt otherwise. Static shapes make Shape, Size and Rank
// constants. Source: the role of TF 2.15 tensor_util.constant_value.
std::optional<Array> ConstantValue(const Tensor& tensor, int64_t max_elements = 4096);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_CONSTANT_VALUE_H_
