// Compares arrays and reports where they differ, for tests and for replays of reference runs.
#ifndef ESTIMATOR_ARRAY_COMPARE_H_
#define ESTIMATOR_ARRAY_COMPARE_H_

#include <cstdint>
#include <string>

#include "estimator/array/array.h"

namespace estimator {

struct Tolerance {
  double relative = 0;  // relative to the magnitude of the expected value
  double absolute = 0;
};

struct Difference {
  bool equal = true;
  int64_t num_different = 0;  // elements beyond the tolerance
  int64_t worst_index = -1;   // row-major; -1 when equal
  double max_absolute = 0;
  double max_relative = 0;
  // Empty when equal. Else it has the type, the number of elements that differ, and the worst
  // element with its index and both values. If the types differ, it has both types.
  //   3 of 48 elements differ; worst at [1,0,7]: 0.25 is not 0.5 (f32 [2,3,8], rtol 1e-05, atol 0)
  std::string report;
};

// Compares two arrays. NaN equals NaN, and an infinity equals itself. Arrays of different dtypes or
// shapes are not equal.
Difference Compare(const Array& actual, const Array& expected, Tolerance tolerance = {});
// Whether both have the same bytes, dtype and shape.
bool SameBits(const Array& a, const Array& b);

}  // namespace estimator

#endif  // ESTIMATOR_ARRAY_COMPARE_H_
