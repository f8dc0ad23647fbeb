// IndexedSlices: some rows of a larger tensor, and the numbers of these rows.
//
// In TensorFlow the gradient of a Gather is an IndexedSlices. Here a gradient is always dense, and
// the graph remembers the slices whose sum it is. TensorFlow treats slices in ways that change
// results: optimizers change only the rows that were looked up; norms and clipping take each slice
// by itself, before slices of one row are added. If another op computes something from a gradient,
// the result is dense in TensorFlow too, so it has no slices here.
// Source: TF 2.15 tf.IndexedSlices.
#ifndef ESTIMATOR_GRAPH_INDEXED_SLICES_H_
#define ESTIMATOR_GRAPH_INDEXED_SLICES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "estimator/graph/tensor.h"

namespace estimator {

struct IndexedSlices {
  Tensor values;   // [n, ...]; the axes after the first are the dense tensor's
  Tensor indices;  // i32 or i64 [n]
};

// Notes in the graph that `dense` is the sum of `slices`.
void KeepSlices(const Tensor& dense, const IndexedSlices& slices);
// Notes that `dense` is the sum of `parts`, if every part is a sum of slices. If one part is dense,
// nothing is noted: TensorFlow's sum is then dense too.
void KeepSlicesOfSum(const Tensor& dense, const std::vector<Tensor>& parts);
// The slices whose sum is `dense`, concatenated in TensorFlow's order; nullopt if `dense` is not
// known to be such a sum.
std::optional<IndexedSlices> SlicesOf(const Tensor& dense);
// The dense tensor of `num_rows` rows with the slices added up; it remembers its slices.
Tensor AddUp(const IndexedSlices& slices, int64_t num_rows);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_INDEXED_SLICES_H_
