// For tests that compare f32 products of the fastest kernels with sums of f32.
#ifndef ESTIMATOR_KERNELS_TESTING_SPLIT_PRODUCTS_H_
#define ESTIMATOR_KERNELS_TESTING_SPLIT_PRODUCTS_H_

#include <cmath>
#include <cstdint>

#include "estimator/array/array.h"
#include "estimator/kernels/bfloat16/tiles.h"

namespace estimator::testing {

// The largest error of f32 products on this CPU, beyond that of a sum of f32. It is 0 without AMX,
// which multiplies f32 numbers that are split into two of bf16 (docs/mixed_precision.md).
//   expected: finite results
inline double ErrorOfSplitProducts(const Array& expected) {
  if (!bfloat16::HasAmx() || expected.dtype() != DType::kFloat32) return 0;
  constexpr double kOfRootMeanSquare = 3e-5;
  double squares = 0;
  for (int64_t i = 0; i < expected.num_elements(); ++i)
    squares += expected.AsDouble(i) * expected.AsDouble(i);
  return kOfRootMeanSquare * std::sqrt(squares / static_cast<double>(expected.num_elements()));
}

}  // namespace estimator::testing

#endif  // ESTIMATOR_KERNELS_TESTING_SPLIT_PRODUCTS_H_
