// What the reference kernels of many families share: the type to compute in, sums in it, the values
// of constant operands, and iteration over strided operands.
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

// The type that an element is computed in: float for the 16-bit types, else the type itself.
template <typename T>
using Compute = std::conditional_t<kIsHalf<T>, float, T>;

// The value of a constant integer operand, as int64; nullopt if it is not a constant.
inline std::optional<std::vector<int64_t>> ConstantInts(const KernelSpec& spec, int i) {
  const auto index = static_cast<size_t>(i);
  if (index >= spec.constants.size() || !spec.constants[index].has_value()) return std::nullopt;
  const Array ints = spec.constants[index]->Cast(DType::kInt64);
  return std::vector<int64_t>(ints.data<int64_t>(), ints.data<int64_t>() + ints.num_elements());
}

// a + b in the dtype of the elements; integers wrap around.
template <typename T>
T SumOf(T a, T b) {
  if constexpr (kIsFloatingType<T>)
    return static_cast<T>(static_cast<Compute<T>>(a) + static_cast<Compute<T>>(b));
  else
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

inline int64_t WrapAxis(int64_t axis, int rank) { return axis < 0 ? axis + rank : axis; }

// The strides, in elements, for iterating over `from` along the axes of `to`, to which it
// broadcasts. They are 0 for axes that `from` lacks or that have size 1 in it.
inline std::vector<int64_t> BroadcastStrides(const Shape& from, const Shape& to) {
  std::vector<int64_t> strides(to.dims().size(), 0);
  const std::vector<int64_t> own = from.strides();
  for (int i = 1; i <= from.rank(); ++i) {
    if (from.dim(-i) != 1)
      strides[strides.size() - static_cast<size_t>(i)] = own[own.size() - static_cast<size_t>(i)];
  }
  return strides;
}

// Visits the elements of a dense shape in row-major order, and follows N operands by their own
// strides (in elements; 0 repeats an element, a negative stride goes backwards). Axes that all
// operands cross with one stride are merged when the walk is built. A walk does not allocate.
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

  // False if there are more axes than a walk supports, even after merging.
  bool ok() const { return sizes_.size() <= kMaxRank; }
  int64_t num_elements() const { return num_elements_; }

  // Calls fn(i, offsets): i counts from 0; offsets[n] is the offset of the element of operand n.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    ForEachRow([&fn](int64_t i, Offsets offsets, const Offsets& strides, int64_t count) {
      for (int64_t k = 0; k < count; ++k) {
        fn(i + k, offsets);
        for (size_t n = 0; n < N; ++n) offsets[n] += strides[n];
      }
    });
  }

  // The same for runs of elements: fn(i, offsets, strides, count) is called for `count` elements,
  // of which i is the first. strides[n] is the distance between the elements of operand n.
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
  std::vector<int64_t> sizes_;  // outermost axis first; axes of size 1 are removed
  std::vector<Offsets> strides_;
};

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_REFERENCE_LOOPS_H_
