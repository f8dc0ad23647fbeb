// Ops that rearrange, join and split tensors. Negative axes count from the end.
// Errors (kept by the graph): INVALID_ARGUMENT naming the axis or both shapes.
#ifndef ESTIMATOR_OPS_MANIPULATION_H_
#define ESTIMATOR_OPS_MANIPULATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// Axis i of the result is axis perm[i] of x. Empty: the axes in reverse order.
Tensor Transpose(const Tensor& x, const std::vector<int64_t>& perm = {},
                 StringArg name = "transpose");
// tf.concat: joins along an axis that exists.
Tensor Concat(const std::vector<Tensor>& inputs, int axis, StringArg name = "concat");
struct SplitOptions {
  int axis = 0;
  std::string name = "split";
};
// tf.split: into equal parts, or into parts of the given sizes.
std::vector<Tensor> Split(const Tensor& x, int num_splits, const SplitOptions& options = {});
std::vector<Tensor> Split(const Tensor& x, const std::vector<int64_t>& sizes,
                          const SplitOptions& options = {});
// tf.stack adds a new axis and joins along it; tf.unstack removes an axis and returns its slices.
Tensor Stack(const std::vector<Tensor>& inputs, int axis = 0, StringArg name = "stack");
std::vector<Tensor> Unstack(const Tensor& x, int axis = 0, StringArg name = "unstack");
Tensor Reverse(const Tensor& x, const std::vector<int64_t>& axes, StringArg name = "ReverseV2");
// x repeated multiples[i] times along axis i.
Tensor Tile(const Tensor& x, const std::vector<int64_t>& multiples, StringArg name = "Tile");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_MANIPULATION_H_
