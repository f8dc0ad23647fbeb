#include "estimator/checkpoint/bundle/part_rows.h"

#include <cstddef>

namespace estimator {

PartRows::PartRows(const Shape& whole, const std::vector<SliceExtent>& extents, const Shape& part) {
  const std::vector<int64_t> strides = whole.strides();
  int axis = part.rank();
  bool neighbours = true;
  // A run consists of the last axes that the part has in full, and of the axis before them.
  while (axis > 0 && neighbours) {
    --axis;
    run_ *= part.dim(axis);
    neighbours = part.dim(axis) == whole.dim(axis);
  }
  for (size_t i = 0; i < extents.size(); ++i) offset_ += extents[i].start * strides[i];
  for (int i = 0; i < axis; ++i) {
    counts_.push_back(part.dim(i));
    strides_.push_back(strides[static_cast<size_t>(i)]);
    num_runs_ *= part.dim(i);
  }
  if (run_ == 0) num_runs_ = 0;
}

int64_t PartRows::Begin(int64_t i) const {
  int64_t begin = offset_;
  for (size_t axis = counts_.size(); axis-- > 0;) {
    begin += i % counts_[axis] * strides_[axis];
    i /= counts_[axis];
  }
  return begin;
}

int64_t PartRows::FirstRunAfter(int64_t element) const {
  int64_t low = 0;
  int64_t high = num_runs_;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (Begin(middle) + run_ > element) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace estimator
