// What one axis of Python's x[begin:end:stride] takes: shared by StridedSlice's shape rule and its
// kernels.
#ifndef ESTIMATOR_KERNELS_SLICE_RANGE_H_
#define ESTIMATOR_KERNELS_SLICE_RANGE_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

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
inline absl::StatusOr<SliceRange> ResolveSlice(int64_t dim, const SliceAxis& axis) {
  if (axis.shrink) {
    const int64_t index = axis.begin < 0 ? axis.begin + dim : axis.begin;
    if (index >= 0 && index < dim) return SliceRange{index, 1, 1};
    return absl::InvalidArgumentError(
        absl::StrCat("index ", axis.begin, " is out of range for an axis of size ", dim));
  }
  if (axis.stride == 0) return absl::InvalidArgumentError("a slice's stride must not be 0");
  const bool forward = axis.stride > 0;
  const int64_t low = forward ? 0 : -1, high = forward ? dim : dim - 1;
  const auto canonical = [&](int64_t at) { return std::clamp(at < 0 ? at + dim : at, low, high); };
  const int64_t begin = axis.open_begin ? (forward ? low : high) : canonical(axis.begin);
  const int64_t end = axis.open_end ? (forward ? high : low) : canonical(axis.end);
  const int64_t distance = forward ? end - begin : begin - end;
  const int64_t step = forward ? axis.stride : -axis.stride;
  return SliceRange{begin, axis.stride, distance <= 0 ? 0 : (distance + step - 1) / step};
}

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_SLICE_RANGE_H_
