// Compares arrays and says where they differ, for tests and for replays of references.
#ifndef ESTIMATOR_ARRAY_COMPARE_H_
#define ESTIMATOR_ARRAY_COMPARE_H_

#include <cstdint>
#include <string>

#include "estimator/array/array.h"

namespace estimator {

struct Tolerance {
  double relative = 0;  // of the expected value's magnitude
  double absolute = 0;
};

struct Difference {
  bool equal = true;
  int64_t num_different = 0;  // elements beyond the tolerance
  int64_t worst_index = -1;   // row-major; -1 when equal
  double max_absolute = 0;
  double max_relative = 0;
  // Empty when equal; else both types, how many differ, and the worst element with its
  // index in every axis and both values:
  //   "3 of 48 elements differ; worst at [1,0,7]: 0.25 is not 0.5 (f32 [2,3,8], rtol 1e-05, atol
  //   0)"
  std::string report;
};

// NaN equals NaN, and an infinity equals itself. A differing dtype or shape is a difference.
Difference Compare(const Array& actual, const Array& expected, Tolerance tolerance = {});
// The same bytes (and dtype and shape).
bool SameBits(const Array& a, const Array& b);

}  // namespace estimator

#endif  // ESTIMATOR_ARRAY_COMPARE_H_
