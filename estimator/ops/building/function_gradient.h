// For the gradients of ops that run functions.
#ifndef ESTIMATOR_OPS_BUILDING_FUNCTION_GRADIENT_H_
#define ESTIMATOR_OPS_BUILDING_FUNCTION_GRADIENT_H_

#include <functional>

#include "estimator/graph/function.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// What stands for `tensor`, a tensor of the body of `forward`, in the body of a gradient, which is
// the current graph: what a capture captured, a copy of a constant, or what `saved` returns.
//   saved: what the forward body left behind. An invalid tensor: nothing, so that the op is copied
//   into the current graph and computes the value again.
Tensor ForwardTensor(const Function& forward, const Tensor& tensor,
                     const std::function<Tensor(const Tensor&)>& saved);

// Adds the node of `tensor` to the current graph once more, and returns that output. Its inputs are
// what Graph::Inside finds for the inputs of the node.
Tensor ComputeAgain(const Tensor& tensor);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_BUILDING_FUNCTION_GRADIENT_H_
