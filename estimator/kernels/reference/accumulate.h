// The types that reference kernels compute in. 16-bit floats are only for storage, so sums and
// functions of them are computed in float32. float32 and float64 are computed in their own type,
// and integers wrap around.
#ifndef ESTIMATOR_KERNELS_REFERENCE_ACCUMULATE_H_
#define ESTIMATOR_KERNELS_REFERENCE_ACCUMULATE_H_

#include <cstdint>

#include "estimator/array/dtype.h"

namespace estimator {

template <typename T>
struct AccumulatorOf {
  using type = float;  // float, Bfloat16, Float16
};
template <>
struct AccumulatorOf<double> {
  using type = double;
};
template <>
struct AccumulatorOf<int32_t> {
  using type = uint64_t;  // sums and products wrap around, which is defined for unsigned numbers
};
template <>
struct AccumulatorOf<int64_t> {
  using type = uint64_t;
};

template <typename T>
using Accumulator = typename AccumulatorOf<T>::type;

// Returns fn(T{}) for float32, float64, bfloat16 and float16; fn returns a KernelPlan.
// Returns null for other dtypes, so that a factory can return the result directly.
template <typename Fn>
auto VisitFloating(DType dtype, Fn&& fn) -> decltype(fn(float{})) {
  if (dtype == DType::kFloat32) return fn(float{});
  if (dtype == DType::kFloat64) return fn(double{});
  if (dtype == DType::kBfloat16) return fn(Bfloat16{});
  if (dtype == DType::kFloat16) return fn(Float16{});
  return nullptr;
}

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_REFERENCE_ACCUMULATE_H_
