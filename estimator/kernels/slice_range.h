// Strided slices (Python's x[b:e:s, i, ..., newaxis]): which elements they take. Shared by shape
// rules and kernels.
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
  bool shrink = false;      // shrink_axis_mask: an index, and the axis goes
};

struct SliceRange {
  int64_t begin = 0;  // the first element, in [0, dim) if size > 0
  int64_t stride = 1;
  int64_t size = 0;
};

// Errors: INVALID_ARGUMENT for a stride of 0, or an index out of range. Ranges are cut to the axis.
// Source: TF 2.15 strided_slice_op.cc (ValidateStridedSliceOp).
absl::StatusOr<SliceRange> ResolveSlice(int64_t dim, const SliceAxis& axis);

// What a slice takes of every axis of the whole, and the shape that it has: without the axes that
// an index takes, with those that new_axis_mask adds.
struct SliceLayout {
  std::vector<SliceRange> axes;
  Shape shape;

  Shape sizes() const;  // of axes: the elements that are taken, in the order of the result
};

// masks: begin_mask, end_mask, ellipsis_mask, new_axis_mask and shrink_axis_mask, whose bit i is
// about begin[i], end[i] and strides[i].
// Errors: INVALID_ARGUMENT as ResolveSlice, naming the axis; for lists of unequal length, more
// entries than axes, or a second ellipsis.
absl::StatusOr<SliceLayout> LayOutSlice(const Shape& whole, const std::vector<int64_t>& begin,
                                        const std::vector<int64_t>& end,
                                        const std::vector<int64_t>& strides, const Attrs& masks);

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_SLICE_RANGE_H_
