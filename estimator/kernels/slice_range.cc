#include "estimator/kernels/slice_range.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {

absl::StatusOr<SliceRange> ResolveSlice(int64_t dim, const SliceAxis& axis) {
  // An index must be in the axis. The ends of a range are clipped to it instead, as in Python.
  if (axis.shrink) {
    const int64_t index = axis.begin < 0 ? axis.begin + dim : axis.begin;
    if (index >= 0 && index < dim) return SliceRange{index, 1, 1};
    return InvalidArgument("index ", axis.begin, " is out of range for an axis of size ", dim);
  }
  if (axis.stride == 0) return InvalidArgument("a slice's stride must not be 0");
  const bool forward = axis.stride > 0;
  // With a negative stride a range may end before the first element, at -1.
  const int64_t low = forward ? 0 : -1, high = forward ? dim : dim - 1;
  const auto canonical = [&](int64_t at) { return std::clamp(at < 0 ? at + dim : at, low, high); };
  const int64_t begin = axis.open_begin ? (forward ? low : high) : canonical(axis.begin);
  const int64_t end = axis.open_end ? (forward ? high : low) : canonical(axis.end);
  const int64_t distance = forward ? end - begin : begin - end;
  // An empty range is no error, as in Python.
  if (distance <= 0) return SliceRange{begin, axis.stride, 0};
  // Neither adds the stride nor negates it, because it may be the largest or smallest int64.
  const int64_t whole_steps = forward ? (distance - 1) / axis.stride : (1 - distance) / axis.stride;
  return SliceRange{begin, axis.stride, whole_steps + 1};
}

Shape SliceLayout::sizes() const {
  Shape shape;
  for (const SliceRange& range : axes) shape.push_back(range.size);
  return shape;
}

absl::StatusOr<SliceLayout> LayOutSlice(const Shape& whole, const std::vector<int64_t>& begin,
                                        const std::vector<int64_t>& end,
                                        const std::vector<int64_t>& strides, const Attrs& masks) {
  const size_t n = begin.size();
  constexpr size_t kMaxEntries = 32;  // the masks have that many bits
  if (n > kMaxEntries) {
    return InvalidArgument("a slice has ", n, " entries; at most 32 are supported");
  }
  const auto bit = [&](const char* mask, size_t i) { return ((masks.i(mask) >> i) & 1) != 0; };
  // Counts the entries that refer to an axis of the whole. The ellipsis takes the other axes.
  size_t num_named = 0, num_ellipses = 0;
  for (size_t i = 0; i < n; ++i) {
    // If an entry has both bits, the ellipsis counts, as in TensorFlow's strided_slice_op.cc.
    if (bit("ellipsis_mask", i)) {
      ++num_ellipses;
    } else if (!bit("new_axis_mask", i)) {
      ++num_named;
    }
  }
  const size_t rank = whole.dims().size();
  if (end.size() != n || strides.size() != n || num_named > rank) {
    return InvalidArgument(n, " begins, ", end.size(), " ends and ", strides.size(),
                           " strides for the ", rank, " axes of ", whole.ToString());
  }
  if (num_ellipses > 1) return InvalidArgument("a slice has more than one ellipsis");
  SliceLayout layout;
  const auto take_whole = [&](size_t count) {
    for (; count > 0; --count) {
      const int64_t size = whole.dims()[layout.axes.size()];
      layout.axes.push_back({0, 1, size});
      layout.shape.push_back(size);
    }
  };
  for (size_t i = 0; i < n; ++i) {
    if (bit("ellipsis_mask", i)) {
      take_whole(rank - num_named);
      continue;
    }
    if (bit("new_axis_mask", i)) {
      layout.shape.push_back(1);
      continue;
    }
    const size_t axis = layout.axes.size();
    const SliceAxis slice{begin[i],           end[i],
                          strides[i],         bit("begin_mask", i),
                          bit("end_mask", i), bit("shrink_axis_mask", i)};
    absl::StatusOr<SliceRange> range = ResolveSlice(whole.dims()[axis], slice);
    if (!range.ok()) {
      return Annotate(range.status(), absl::StrCat("axis ", axis, " of ", whole.ToString()));
    }
    layout.axes.push_back(*range);
    if (!slice.shrink) layout.shape.push_back(range->size);
  }
  // As in TensorFlow, axes without an entry are taken whole, as if an ellipsis came last.
  take_whole(rank - layout.axes.size());
  return layout;
}

}  // namespace estimator
