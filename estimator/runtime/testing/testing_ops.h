// Builds graphs for the tests of this folder.
#ifndef ESTIMATOR_RUNTIME_TESTING_TESTING_OPS_H_
#define ESTIMATOR_RUNTIME_TESTING_TESTING_OPS_H_

#include "estimator/graph/graph.h"

namespace estimator::testing {

Tensor Const(const Array& value);
Tensor Placeholder(const Shape& shape, DType dtype = DType::kFloat32, absl::string_view name = "");
// Element-wise ops on f32. Both shapes must be equal, or one must be a scalar.
Tensor Add(const Tensor& a, const Tensor& b);
Tensor Sub(const Tensor& a, const Tensor& b);
Tensor Mul(const Tensor& a, const Tensor& b);
// The product of a [M,K] and b [K,N], optionally stored transposed.
Tensor MatMul(const Tensor& a, const Tensor& b, bool transpose_a = false, bool transpose_b = false);
Tensor Sum(const Tensor& x);  // the sum of all elements
Tensor Reshape(const Tensor& x, const Shape& shape);
Tensor Identity(const Tensor& x);
// Returns x, but fails the step with "the mean is ..." if the mean of x is above `limit`.
Tensor FailAbove(const Tensor& x, float limit);
// args.step.step as f32 []. It is never folded.
Tensor StepNumber();
Tensor CrossReplicaSum(const Tensor& x, const std::vector<std::vector<int32_t>>& groups = {});
// An optimizer's update in place: var - rate * grad.
Tensor ApplyGradientDescent(const Tensor& var, const Tensor& rate, const Tensor& grad);

// A variable of the current graph with initial value `initial`.
Variable MakeVariable(absl::string_view name, const Array& initial);
Array F32(const Shape& shape, std::initializer_list<float> values);

}  // namespace estimator::testing

#endif  // ESTIMATOR_RUNTIME_TESTING_TESTING_OPS_H_
