// Ops that read or change a shape and do not move elements.
#ifndef ESTIMATOR_OPS_SHAPE_OPS_H_
#define ESTIMATOR_OPS_SHAPE_OPS_H_

#include <cstdint>
#include <vector>

#include "estimator/array/dtype.h"
#include "estimator/array/shape.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// tf.shape, tf.size, tf.rank. They are constants, because shapes are static. The default is i32.
Tensor ShapeOf(const Tensor& x, DType dtype = DType::kInt32, StringArg name = "Shape");
Tensor SizeOf(const Tensor& x, DType dtype = DType::kInt32, StringArg name = "Size");
Tensor RankOf(const Tensor& x, StringArg name = "Rank");

// tf.reshape. One size may be -1; it is computed from the number of elements.
// Errors: INVALID_ARGUMENT naming both numbers of elements if they differ.
Tensor Reshape(const Tensor& x, const Shape& shape, StringArg name = "Reshape");
//   shape: i32 or i64 [rank], computed from constants and shapes of tensors.
Tensor Reshape(const Tensor& x, const Tensor& shape, StringArg name = "Reshape");

// Adds an axis of size 1 before `axis`, which is in [-rank-1, rank].
Tensor ExpandDims(const Tensor& x, int axis, StringArg name = "ExpandDims");
// Removes the given axes, which must have size 1. By default removes every axis of size 1.
Tensor Squeeze(const Tensor& x, const std::vector<int64_t>& axes = {}, StringArg name = "Squeeze");
Tensor BroadcastTo(const Tensor& x, const Shape& shape, StringArg name = "BroadcastTo");

Tensor Identity(const Tensor& x, StringArg name = "Identity");
// Returns x, but no gradient flows through it.
Tensor StopGradient(const Tensor& x, StringArg name = "StopGradient");
// Returns x after checking its shape, as TensorFlow's x.set_shape. A size of -1 matches any size.
// Errors: INVALID_ARGUMENT naming both shapes.
Tensor EnsureShape(const Tensor& x, const Shape& shape, StringArg name = "EnsureShape");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_SHAPE_OPS_H_
