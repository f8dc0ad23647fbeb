// Iterates over the elements of a dense result and of the operands that it is made of, in runs
// along which every operand has one stride.
#ifndef ESTIMATOR_KERNELS_STRIDED_ROWS_H_
#define ESTIMATOR_KERNELS_STRIDED_ROWS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "estimator/array/shape.h"
#include "estimator/kernels/fused/parallel.h"

namespace estimator {

// The strides, in elements, of `from` along the axes of `to`, to which it broadcasts. They are 0
// for axes that `from` lacks or that have size 1 in it.
inline std::vector<int64_t> BroadcastStrides(const Shape& from, const Shape& to) {
  std::vector<int64_t> strides(static_cast<size_t>(to.rank()), 0);
  const std::vector<int64_t> own = from.strides();
  for (size_t i = 1; i <= own.size(); ++i) {
    if (from.dim(-static_cast<int>(i)) != 1) strides[strides.size() - i] = own[own.size() - i];
  }
  return strides;
}

// The axes of a batch of matrices, [..., rows, columns].
inline Shape BatchOf(const Shape& shape) {
  return Shape(std::vector<int64_t>(shape.dims().begin(), shape.dims().end() - 2));
}

// N operands of a result in row-major order. Axes that all operands cross with one stride are
// merged. A row is the last axis that is left.
template <size_t N>
class StridedRows {
 public:
  static constexpr size_t kMaxRank = 16;
  using Offsets = std::array<int64_t, N>;

  // strides[n][axis] is the distance of two neighbours of operand n along an axis of `shape`, in
  // elements; 0 repeats an element.
  StridedRows(const Shape& shape, const std::array<std::vector<int64_t>, N>& strides) {
    for (size_t axis = 0; axis < shape.dims().size(); ++axis) {
      const int64_t size = shape.dims()[axis];
      num_elements_ *= size;
      if (size == 1) continue;
      Axis next{.size = size, .strides = {}};
      for (size_t n = 0; n < N; ++n) next.strides[n] = strides[n][axis];
      bool merges = !axes_.empty();
      for (size_t n = 0; merges && n < N; ++n)
        merges = axes_.back().strides[n] == next.strides[n] * size;
      if (merges) {
        axes_.back().size *= size;
        axes_.back().strides = next.strides;
      } else {
        axes_.push_back(next);
      }
    }
    if (axes_.empty()) axes_.push_back({});
    chunks_ = fused::MakeChunks(num_elements_);
  }

  // False if more axes are left than are supported.
  bool ok() const { return axes_.size() <= kMaxRank; }
  int64_t num_elements() const { return num_elements_; }
  // The distance of neighbours in a row.
  const Offsets& strides() const { return axes_.back().strides; }

  // Calls fn(i, offsets, count) for the elements [i, i + count) of the result, which are in one
  // row, on all threads. offsets[n] is where operand n has the first of them.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    if (num_elements_ == 0) return;
    fused::ParallelFor(chunks_, [&](int, int64_t begin, int64_t end) { Walk(begin, end, fn); });
  }
  // The same in order, on one thread.
  template <typename Fn>
  void ForEachInOrder(Fn&& fn) const {
    if (num_elements_ > 0) Walk(0, num_elements_, fn);
  }
  // The same for single elements: fn(i, offsets).
  template <typename Fn>
  void ForEachElementInOrder(Fn&& fn) const {
    ForEachInOrder([&](int64_t i, Offsets offsets, int64_t count) {
      for (int64_t k = 0; k < count; ++k) {
        fn(i + k, offsets);
        for (size_t n = 0; n < N; ++n) offsets[n] += strides()[n];
      }
    });
  }

 private:
  struct Axis {
    int64_t size = 1;
    Offsets strides{};
  };

  template <typename Fn>
  void Walk(int64_t begin, int64_t end, Fn& fn) const {
    const size_t last = axes_.size() - 1;
    const Axis& row = axes_[last];
    std::array<int64_t, kMaxRank> index{};
    Offsets start{};  // of the current row
    int64_t rest = begin / row.size;
    for (size_t axis = last; axis-- > 0;) {
      index[axis] = rest % axes_[axis].size;
      rest /= axes_[axis].size;
      for (size_t n = 0; n < N; ++n) start[n] += index[axis] * axes_[axis].strides[n];
    }
    int64_t in_row = begin % row.size;
    for (int64_t i = begin; i < end;) {
      Offsets at = start;
      for (size_t n = 0; n < N; ++n) at[n] += in_row * row.strides[n];
      const int64_t count = std::min(row.size - in_row, end - i);
      fn(i, at, count);
      i += count;
      in_row = 0;
      for (size_t axis = last; axis-- > 0;) {
        for (size_t n = 0; n < N; ++n) start[n] += axes_[axis].strides[n];
        if (++index[axis] < axes_[axis].size) break;
        for (size_t n = 0; n < N; ++n) start[n] -= axes_[axis].size * axes_[axis].strides[n];
        index[axis] = 0;
      }
    }
  }

  int64_t num_elements_ = 1;
  std::vector<Axis> axes_;  // outermost first
  fused::Chunks chunks_;
};

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_STRIDED_ROWS_H_
