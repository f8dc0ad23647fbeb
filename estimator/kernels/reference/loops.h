// What reference kernels of many families share: which type to compute in, a sum in it, the values
// of constant operands, and a walk over strided operands.
#ifndef ESTIMATOR_KERNELS_REFERENCE_LOOPS_H_
#define ESTIMATOR_KERNELS_REFERENCE_LOOPS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "estimator/array/dtype.h"
#include "estimator/array/shape.h"
#include "estimator/kernels/kernel.h"

namespace estimator {

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, Bfloat16> || std::is_same_v<T, Float16>;
template <typename T>
inline constexpr bool kIsFloatingType = std::is_floating_point_v<T> || kIsHalf<T>;
template <typename T>
inline constexpr bool kIsNumberType = !std::is_same_v<T, bool>;

// What an element is computed in: float for the 16-bit types, else itself.
template <typename T>
using Compute = std::conditional_t<kIsHalf<T>, float, T>;

// The value of an integer operand that is a constant, as int64; nullopt if it is not one.
inline std::optional<std::vector<int64_t>> ConstantInts(const KernelSpec& spec, int i) {
  const auto index = static_cast<size_t>(i);
  if (index >= spec.constants.size() || !spec.constants[index].has_value()) return std::nullopt;
  const Array ints = spec.constants[index]->Cast(DType::kInt64);
  return std::vector<int64_t>(ints.data<int64_t>(), ints.data<int64_t>() + ints.num_elements());
}

// In the elements' own dtype; integers wrap around.
template <typename T>
T SumOf(T a, T b) {
  if constexpr (kIsFloatingType<T>)
    return static_cast<T>(static_cast<Compute<T>>(a) + static_cast<Compute<T>>(b));
  else
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

inline int64_t WrapAxis(int64_t axis, int rank) { return axis < 0 ? axis + rank : axis; }

// Strides, in elements, that walk `from` along the axes of `to`, which it broadcasts to: 0 along
// axes that it lacks or has with size 1.
inline std::vector<int64_t> BroadcastStrides(const Shape& from, const Shape& to) {
  std::vector<int64_t> strides(to.dims().size(), 0);
  const std::vector<int64_t> own = from.strides();
  for (int i = 1; i <= from.rank(); ++i) {
    if (from.dim(-i) != 1)
      strides[strides.size() - static_cast<size_t>(i)] = own[own.size() - static_cast<size_t>(i)];
  }
  return strides;
}

// Visits the elements of a dense shape in row-major order, following N operands by their own
// strides (in elements; 0 repeats, negative goes back). Axes that all operands cross in one
// stride are merged when it is built; a walk does not allocate.
template <size_t N>
class StridedWalk {
 public:
  static constexpr size_t kMaxRank = 16;
  using Offsets = std::array<int64_t, N>;

  StridedWalk(const Shape& shape, const std::array<std::vector<int64_t>, N>& strides) {
    for (size_t axis = 0; axis < shape.dims().size(); ++axis) {
      const int64_t size = shape.dims()[axis];
      num_elements_ *= size;
      if (size == 1) continue;
      Offsets stride;
      for (size_t n = 0; n < N; ++n) stride[n] = strides[n][axis];
      bool merges = !sizes_.empty();
      for (size_t n = 0; merges && n < N; ++n) merges = strides_.back()[n] == stride[n] * size;
      if (merges) {
        sizes_.back() *= size;
        strides_.back() = stride;
      } else {
        sizes_.push_back(size);
        strides_.push_back(stride);
      }
    }
  }

  // False for more axes than a walk can hold, even merged.
  bool ok() const { return sizes_.size() <= kMaxRank; }
  int64_t num_elements() const { return num_elements_; }

  // fn(i, offsets): i counts from 0; offsets[n] is the element of operand n.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    ForEachRow([&fn](int64_t i, Offsets offsets, const Offsets& strides, int64_t count) {
      for (int64_t k = 0; k < count; ++k) {
        fn(i + k, offsets);
        for (size_t n = 0; n < N; ++n) offsets[n] += strides[n];
      }
    });
  }

  // The same in pieces: fn(i, offsets, strides, count) stands for `count` elements, i the first of
  // them, from which operand n goes on by strides[n].
  template <typename Fn>
  void ForEachRow(Fn&& fn) const {
    if (num_elements_ == 0) return;
    Offsets offsets{};
    if (sizes_.empty()) {
      fn(int64_t{0}, offsets, offsets, int64_t{1});
      return;
    }
    std::array<int64_t, kMaxRank> index{};
    const size_t last = sizes_.size() - 1;
    for (int64_t i = 0;; i += sizes_[last]) {
      fn(i, offsets, strides_[last], sizes_[last]);
      size_t axis = last;
      while (axis > 0) {
        --axis;
        for (size_t n = 0; n < N; ++n) offsets[n] += strides_[axis][n];
        if (++index[axis] < sizes_[axis]) break;
        for (size_t n = 0; n < N; ++n) offsets[n] -= sizes_[axis] * strides_[axis][n];
        index[axis] = 0;
        if (axis == 0) return;
      }
      if (last == 0) return;
    }
  }

 private:
  int64_t num_elements_ = 1;
  std::vector<int64_t> sizes_;  // outermost first, none of them 1
  std::vector<Offsets> strides_;
};

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_REFERENCE_LOOPS_H_
