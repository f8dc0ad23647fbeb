// The elements of a strided slice, Python's x[b:e:s, i, ..., newaxis]. Shape rules and kernels
// share this.
#ifndef ESTIMATOR_KERNELS_SLICE_RANGE_H_
#define ESTIMATOR_KERNELS_SLICE_RANGE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/attrs.h"
#include "estimator/array/shape.h"

namespace estimator {

struct SliceAxis {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t stride = 1;
  bool open_begin = false;  // begin_mask
  bool open_end = false;    // end_mask
  bool shrink = false;      // shrink_axis_mask: an index, which removes the axis
};

struct SliceRange {
  int64_t begin = 0;  // the first element, in [0, dim) if size > 0
  int64_t stride = 1;
  int64_t size = 0;
};

// Clips a range to the axis. Errors: INVALID_ARGUMENT if the stride is 0 or an index is out of
// range.
// Source: TF 2.15 strided_slice_op.cc (ValidateStridedSliceOp).
absl::StatusOr<SliceRange> ResolveSlice(int64_t dim, const SliceAxis& axis);

// The elements that a slice takes of every axis of the whole, and the shape of the result: without
// the axes that an index removes, with the axes that new_axis_mask adds.
struct SliceLayout {
  std::vector<SliceRange> axes;
  Shape shape;

  Shape sizes() const;  // the number of elements for each of `axes`
};

//   masks: has begin_mask, end_mask, ellipsis_mask, new_axis_mask and shrink_axis_mask. Their bit i
//   belongs to begin[i], end[i] and strides[i].
// Errors: INVALID_ARGUMENT as ResolveSlice, naming the axis; if the lists have different lengths;
// if there are more entries than axes, or two ellipses.
absl::StatusOr<SliceLayout> LayOutSlice(const Shape& whole, const std::vector<int64_t>& begin,
                                        const std::vector<int64_t>& end,
                                        const std::vector<int64_t>& strides, const Attrs& masks);

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_SLICE_RANGE_H_
