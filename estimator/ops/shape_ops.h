// Ops that read or change a shape and leave the elements where they are.
#ifndef ESTIMATOR_OPS_SHAPE_OPS_H_
#define ESTIMATOR_OPS_SHAPE_OPS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/array/dtype.h"
#include "estimator/array/shape.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// tf.shape, tf.size, tf.rank: constants, since shapes are static. i32 unless said.
Tensor ShapeOf(const Tensor& x, DType dtype = DType::kInt32, absl::string_view name = "Shape");
Tensor SizeOf(const Tensor& x, DType dtype = DType::kInt32, absl::string_view name = "Size");
Tensor RankOf(const Tensor& x, absl::string_view name = "Rank");

// One size may be -1: what the others leave.
// Errors: INVALID_ARGUMENT naming both element counts if they differ.
Tensor Reshape(const Tensor& x, const Shape& shape, absl::string_view name = "Reshape");
// shape: i32 or i64 [rank], made of constants and shapes of other tensors.
Tensor Reshape(const Tensor& x, const Tensor& shape, absl::string_view name = "Reshape");

// A new axis of size 1 before `axis`, in [-rank-1, rank].
Tensor ExpandDims(const Tensor& x, int axis, absl::string_view name = "ExpandDims");
// Drops the axes, which must have size 1; none given: every axis of size 1.
Tensor Squeeze(const Tensor& x, const std::vector<int64_t>& axes = {},
               absl::string_view name = "Squeeze");
Tensor BroadcastTo(const Tensor& x, const Shape& shape, absl::string_view name = "BroadcastTo");

Tensor Identity(const Tensor& x, absl::string_view name = "Identity");
// x; no gradient flows through it.
Tensor StopGradient(const Tensor& x, absl::string_view name = "StopGradient");
// x, after a check of its shape: x.set_shape of TensorFlow. A size of -1 fits any.
// Errors: INVALID_ARGUMENT naming both shapes.
Tensor EnsureShape(const Tensor& x, const Shape& shape, absl::string_view name = "EnsureShape");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_SHAPE_OPS_H_
