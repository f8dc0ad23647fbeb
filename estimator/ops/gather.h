// Reading and writing by index. An index out of range is an error at run time (on an accelerator
// without checks: undefined elements).
#ifndef ESTIMATOR_OPS_GATHER_H_
#define ESTIMATOR_OPS_GATHER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "estimator/array/dtype.h"
#include "estimator/array/shape.h"
#include "estimator/graph/tensor.h"

namespace estimator {

struct GatherOptions {
  int axis = 0;        // of params
  int batch_dims = 0;  // the number of leading batch dimensions
  std::string name = "GatherV2";
};
// tf.gather (GatherV2): slices of `params` along `axis`.
//   params: [P..., D, Q...].  indices: i32 or i64 [I...], in [0, D).  Returns [P..., I..., Q...].
// With batch_dims, every batch has its own indices:
//   params: [B..., P..., D, Q...].  indices: [B..., I...].  Returns [B..., P..., I..., Q...].
Tensor Gather(const Tensor& params, const Tensor& indices, const GatherOptions& options = {});
// tf.gather_nd: indices: [I..., K], each row an index into the first K axes of params.
//   Returns [I..., params' other axes].
Tensor GatherNd(const Tensor& params, const Tensor& indices, absl::string_view name = "GatherNd");
// tf.scatter_nd: zeros of `shape` to which updates are added at the indices.
//   indices: [I..., K].  updates: [I..., shape's axes from K].
Tensor ScatterNd(const Tensor& indices, const Tensor& updates, const Shape& shape,
                 absl::string_view name = "ScatterNd");
// tf.math.unsorted_segment_sum: row j of the result is the sum of the rows of data whose id is j.
//   data: [S..., R...].  segment_ids: [S...]; a negative id drops the row.  Returns [num_segments,
//   R...].
Tensor UnsortedSegmentSum(const Tensor& data, const Tensor& segment_ids, int64_t num_segments,
                          absl::string_view name = "UnsortedSegmentSum");

// The same with the largest (smallest) element; a segment without rows has the dtype's lowest
// (highest) number.
Tensor UnsortedSegmentMax(const Tensor& data, const Tensor& segment_ids, int64_t num_segments,
                          absl::string_view name = "UnsortedSegmentMax");
Tensor UnsortedSegmentMin(const Tensor& data, const Tensor& segment_ids, int64_t num_segments,
                          absl::string_view name = "UnsortedSegmentMin");
// tf.tensor_scatter_nd_update and _add: x with updates in place of, or added to, what the indices
// point at; shapes as ScatterNd. Of two updates of one place the last one holds.
Tensor TensorScatterUpdate(const Tensor& x, const Tensor& indices, const Tensor& updates,
                           absl::string_view name = "TensorScatterUpdate");
Tensor TensorScatterAdd(const Tensor& x, const Tensor& indices, const Tensor& updates,
                        absl::string_view name = "TensorScatterAdd");
struct OneHotOptions {
  double on_value = 1;
  double off_value = 0;
  int axis = -1;  // where the new axis is in the result; -1: the last
  DType dtype = DType::kFloat32;
  std::string name = "one_hot";
};
// tf.one_hot: a new axis of size depth, on_value at the index and off_value elsewhere; an index out
// of range gives a row of off_value.
Tensor OneHot(const Tensor& indices, int64_t depth, const OneHotOptions& options = {});

struct SequenceMaskOptions {
  DType dtype = DType::kBool;
  std::string name = "SequenceMask";
};
// tf.sequence_mask: [L...] -> [L..., max_length], true in the first lengths[i] places.
Tensor SequenceMask(const Tensor& lengths, int64_t max_length,
                    const SequenceMaskOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_OPS_GATHER_H_
