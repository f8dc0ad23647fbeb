// Sums and products of counts. They return the largest int64 instead of overflowing.
#ifndef ESTIMATOR_BASE_SATURATING_H_
#define ESTIMATOR_BASE_SATURATING_H_

#include <cstdint>
#include <limits>

namespace estimator {

// REQUIRES: b >= 0.
inline int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

// REQUIRES: a >= 0, b >= 0.
inline int64_t SaturatingMultiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

// a / b, rounded up. REQUIRES: a >= 0, b > 0.
inline int64_t CeilOfRatio(int64_t a, int64_t b) { return a / b + (a % b != 0); }

}  // namespace estimator

#endif  // ESTIMATOR_BASE_SATURATING_H_
