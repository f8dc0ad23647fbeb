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
#include "estimator/kernels/strided_rows.h"

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

// Visits the elements of a dense shape in row-major order, and follows N operands by their own
// strides (StridedRows).
template <size_t N>
class StridedWalk {
 public:
  using Offsets = typename StridedRows<N>::Offsets;

  StridedWalk(const Shape& shape, const std::array<std::vector<int64_t>, N>& strides)
      : rows_(shape, strides) {}

  bool ok() const { return rows_.ok(); }
  int64_t num_elements() const { return rows_.num_elements(); }

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
    rows_.ForEachInOrder([&](int64_t i, const Offsets& offsets, int64_t count) {
      fn(i, offsets, rows_.strides(), count);
    });
  }

 private:
  StridedRows<N> rows_;
};

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_REFERENCE_LOOPS_H_
