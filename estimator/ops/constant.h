// Constants, placeholders, and tensors filled with one number or a range.
// An op is added to Graph::Current() unless an argument is a tensor.
#ifndef ESTIMATOR_OPS_CONSTANT_H_
#define ESTIMATOR_OPS_CONSTANT_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/array/dtype.h"
#include "estimator/array/shape.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

class Graph;

// tf.constant. The graph shares the array's bytes: do not write to them afterwards.
Tensor Constant(const Array& value, StringArg name = "Const");
// A scalar of the C++ type's dtype: Constant(1.0f) is f32 [], Constant(1) i32 [], and
// Constant(1.0) f64 [].
template <typename T>
requires requires { DTypeOf<T>::value; }
Tensor Constant(T value, StringArg name = "Const") {
  return Constant(Array::Scalar<T>(value), name);
}
// A vector: Constant({1.0f, 2.0f}) is f32 [2].
// To give a name, use Constant(std::vector<float>{...}, "name").
template <typename T>
Tensor Constant(std::initializer_list<T> values) {
  return Constant(Array::Of<T>({static_cast<int64_t>(values.size())}, values));
}
template <typename T>
Tensor Constant(const std::vector<T>& values, StringArg name = "Const") {
  return Constant(Array::FromSpan<T>(Shape{static_cast<int64_t>(values.size())}, values), name);
}
// Constant({2, 2}, {1.0f, 2.0f, 3.0f, 4.0f}). REQUIRES: the number of values matches the shape.
template <typename T>
Tensor Constant(const Shape& shape, std::initializer_list<T> values, StringArg name = "Const") {
  return Constant(Array::Of<T>(shape, values), name);
}
// The same in a given graph instead of the current one.
Tensor ConstantIn(Graph& graph, const Array& value, StringArg name = "Const");
// `value` as a scalar with the dtype of `like`, in its graph.
// Errors: INVALID_ARGUMENT if the dtype is an integer type that cannot hold the value.
Tensor ConstantLike(const Tensor& like, double value, StringArg name = "Const");

// tf.zeros, tf.ones: a Const up to 1000 elements, a Fill for more, as in TensorFlow.
Tensor Zeros(const Shape& shape, DType dtype = DType::kFloat32, StringArg name = "zeros");
Tensor Ones(const Shape& shape, DType dtype = DType::kFloat32, StringArg name = "ones");
// tf.fill: every element is the scalar `value`.
Tensor Fill(const Shape& shape, const Tensor& value, StringArg name = "Fill");
Tensor ZerosLike(const Tensor& x, StringArg name = "zeros_like");
Tensor OnesLike(const Tensor& x, StringArg name = "ones_like");

struct RangeOptions {
  int64_t delta = 1;
  DType dtype = DType::kInt32;
  std::string name = "range";
};
// tf.range: start, start + delta, ... up to but not including limit.
// Errors: INVALID_ARGUMENT if delta is 0 or points away from limit.
Tensor Range(int64_t start, int64_t limit, const RangeOptions& options = {});
inline Tensor Range(int64_t limit) { return Range(0, limit); }

struct LinSpaceOptions {
  DType dtype = DType::kFloat32;
  std::string name = "LinSpace";
};
// tf.linspace: num evenly spaced numbers from start to stop, both included.
Tensor LinSpace(double start, double stop, int64_t num, const LinSpaceOptions& options = {});

// tf.placeholder: a value that is fed. The shape must be fully known.
Tensor Placeholder(DType dtype, const Shape& shape, StringArg name = "Placeholder");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_CONSTANT_H_
