// Building graphs in the tests of this folder.
#ifndef ESTIMATOR_RUNTIME_TESTING_TESTING_OPS_H_
#define ESTIMATOR_RUNTIME_TESTING_TESTING_OPS_H_

#include "estimator/graph/graph.h"

namespace estimator::testing {

Tensor Const(const Array& value);
Tensor Placeholder(const Shape& shape, DType dtype = DType::kFloat32, absl::string_view name = "");
// f32, element-wise: both shapes equal, or one of them a scalar.
Tensor Add(const Tensor& a, const Tensor& b);
Tensor Sub(const Tensor& a, const Tensor& b);
Tensor Mul(const Tensor& a, const Tensor& b);
// a [M,K] times b [K,N], optionally transposed.
Tensor MatMul(const Tensor& a, const Tensor& b, bool transpose_a = false, bool transpose_b = false);
Tensor Sum(const Tensor& x);  // of all elements
Tensor Reshape(const Tensor& x, const Shape& shape);
Tensor Identity(const Tensor& x);
// The mean of x must be below `limit`, else the step fails: "the mean is ...". Returns x.
Tensor FailAbove(const Tensor& x, float limit);
// args.step.step as f32 [], never folded.
Tensor StepNumber();
Tensor CrossReplicaSum(const Tensor& x, const std::vector<std::vector<int32_t>>& groups = {});
// An optimizer's update in place: var - rate * grad.
Tensor ApplyGradientDescent(const Tensor& var, const Tensor& rate, const Tensor& grad);

// A variable of the current graph that starts as `initial`.
Variable MakeVariable(absl::string_view name, const Array& initial);
Array F32(const Shape& shape, std::initializer_list<float> values);

}  // namespace estimator::testing

#endif  // ESTIMATOR_RUNTIME_TESTING_TESTING_OPS_H_
