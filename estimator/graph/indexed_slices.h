// IndexedSlices: rows, and which rows of a larger tensor they add up to.
//
// In TensorFlow that is what the gradient of a Gather is. Here a gradient is always dense, and the
// graph remembers the slices that it was added up from, since TensorFlow treats slices in ways that
// show: optimizers change the rows that were looked up and no others, and norms and clipping take
// each slice by itself, before slices of one row are added. What is computed from a gradient by
// other ops is dense in TensorFlow too, and has no slices.
// Source: TF 2.15 tf.IndexedSlices.
#ifndef ESTIMATOR_GRAPH_INDEXED_SLICES_H_
#define ESTIMATOR_GRAPH_INDEXED_SLICES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "estimator/graph/tensor.h"

namespace estimator {

struct IndexedSlices {
  Tensor values;   // [n, and the dense tensor's axes after the first]
  Tensor indices;  // i32 or i64 [n]
};

// Notes that `dense` is the sum of `slices`.
void KeepSlices(const Tensor& dense, const IndexedSlices& slices);
// Notes that `dense` is the sum of `parts`, if all of them are sums of slices. With one that is
// dense, TensorFlow's sum is dense too.
void KeepSlicesOfSum(const Tensor& dense, const std::vector<Tensor>& parts);
// The slices whose sum is `dense`, one after the other as TensorFlow joins them; nullopt if it is
// not such a sum.
std::optional<IndexedSlices> SlicesOf(const Tensor& dense);
// The dense tensor of `num_rows` rows, which remembers its slices.
Tensor AddUp(const IndexedSlices& slices, int64_t num_rows);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_INDEXED_SLICES_H_
