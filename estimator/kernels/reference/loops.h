// What the reference kernels of many families share: the type to compute in, sums in it, the values
// of constant operands, the extents around an axis, and copies.
#ifndef ESTIMATOR_KERNELS_REFERENCE_LOOPS_H_
#define ESTIMATOR_KERNELS_REFERENCE_LOOPS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
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

// Returns fn(T{}), a KernelPlan, with the C++ type T of a numeric dtype or bool. Returns null for
// strings, so that a factory can return the result directly.
template <typename Fn>
KernelPlan VisitNumericOrBool(DType dtype, Fn&& fn) {
  KernelPlan plan;
  VisitNumeric(dtype, [&](auto tag) { plan = fn(tag); });
  return plan;
}

// The same, but null for bool too.
template <typename Fn>
KernelPlan VisitNumbers(DType dtype, Fn&& fn) {
  return VisitNumericOrBool(dtype, [&](auto tag) -> KernelPlan {
    if constexpr (kIsNumberType<decltype(tag)>)
      return fn(tag);
    else
      return nullptr;
  });
}

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

// A shape as [outer, size, inner], where `size` is that of one axis.
struct AxisExtents {
  int64_t outer = 1, size = 1, inner = 1;
};
inline AxisExtents ExtentsAt(const Shape& shape, int64_t axis) {
  AxisExtents e;
  for (int i = 0; i < shape.rank(); ++i)
    (i < axis ? e.outer : i > axis ? e.inner : e.size) *= shape[i];
  return e;
}

// Copies a tensor, unless it is in its place already.
inline void CopyTensor(const TensorSpec& spec, const void* from, void* to) {
  if (from == to) return;
  if (spec.dtype == DType::kString) {
    std::copy_n(static_cast<const std::string*>(from), spec.shape.num_elements(),
                static_cast<std::string*>(to));
  } else if (spec.num_bytes() > 0) {
    std::memcpy(to, from, spec.num_bytes());
  }
}

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_REFERENCE_LOOPS_H_
