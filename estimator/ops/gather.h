// Reads and writes elements by index. An index out of range fails the step at run time. (A device
// without such checks leaves the elements undefined.)
#ifndef ESTIMATOR_OPS_GATHER_H_
#define ESTIMATOR_OPS_GATHER_H_

#include <cstdint>
#include <string>

#include "estimator/array/dtype.h"
#include "estimator/array/shape.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

struct GatherOptions {
  int axis = 0;        // of params
  int batch_dims = 0;  // the number of leading batch dimensions
  std::string name = "GatherV2";
};
// tf.gather (GatherV2): slices of `params` along `axis`.
//   params: [P..., D, Q...].  indices: i32 or i64 [I...], in [0, D).  Returns [P..., I..., Q...].
// With options.batch_dims, each batch has its own indices:
//   params: [B..., P..., D, Q...].  indices: [B..., I...].  Returns [B..., P..., I..., Q...].
Tensor Gather(const Tensor& params, const Tensor& indices, const GatherOptions& options = {});
// tf.gather_nd: the elements or slices of params at `indices`.
//   indices: i32 or i64 [I..., K]; each row is an index into the first K axes of params.
//   Returns [I..., the other axes of params].
Tensor GatherNd(const Tensor& params, const Tensor& indices, StringArg name = "GatherNd");
// tf.scatter_nd: a tensor of zeros with shape `shape`, to which updates are added at the indices.
//   indices: [I..., K].  updates: [I..., the axes of shape from axis K].
Tensor ScatterNd(const Tensor& indices, const Tensor& updates, const Shape& shape,
                 StringArg name = "ScatterNd");
// tf.math.unsorted_segment_sum: row j of the result is the sum of the rows of data whose id is j.
//   data: [S..., R...].  segment_ids: [S...]; a row with a negative id is dropped.
//   Returns [num_segments, R...].
Tensor UnsortedSegmentSum(const Tensor& data, const Tensor& segment_ids, int64_t num_segments,
                          StringArg name = "UnsortedSegmentSum");

// The same with the largest (smallest) element instead of the sum. A segment without rows gets the
// lowest (highest) number of the dtype.
Tensor UnsortedSegmentMax(const Tensor& data, const Tensor& segment_ids, int64_t num_segments,
                          StringArg name = "UnsortedSegmentMax");
Tensor UnsortedSegmentMin(const Tensor& data, const Tensor& segment_ids, int64_t num_segments,
                          StringArg name = "UnsortedSegmentMin");
// tf.tensor_scatter_nd_update and tf.tensor_scatter_nd_add: x with the elements at the indices
// replaced by, or increased by, the updates. Shapes are as in ScatterNd. If two updates have the
// same index, TensorScatterUpdate keeps the last one.
Tensor TensorScatterUpdate(const Tensor& x, const Tensor& indices, const Tensor& updates,
                           StringArg name = "TensorScatterUpdate");
Tensor TensorScatterAdd(const Tensor& x, const Tensor& indices, const Tensor& updates,
                        StringArg name = "TensorScatterAdd");
struct OneHotOptions {
  double on_value = 1;
  double off_value = 0;
  int axis = -1;  // the position of the new axis in the result; -1: the last
  DType dtype = DType::kFloat32;
  std::string name = "one_hot";
};
// tf.one_hot: a new axis of size depth, with on_value at the index and off_value elsewhere. An
// index out of range gives a row of off_value.
Tensor OneHot(const Tensor& indices, int64_t depth, const OneHotOptions& options = {});

struct SequenceMaskOptions {
  DType dtype = DType::kBool;
  std::string name = "SequenceMask";
};
// tf.sequence_mask: [L...] -> [L..., max_length]. The first lengths[i] elements of row i are true.
Tensor SequenceMask(const Tensor& lengths, int64_t max_length,
                    const SequenceMaskOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_OPS_GATHER_H_
