// Compares an array with the expected one. Differences are measured in units of the tolerance.
#ifndef TOOLS_REPLAY_CLOSENESS_H_
#define TOOLS_REPLAY_CLOSENESS_H_

#include <string>

#include "estimator/array/array.h"

namespace estimator::replay {

struct Closeness {
  // The largest |actual - expected| / tolerance; 0 if all are equal. Infinite if only one side is
  // NaN or Inf, or if dtype or shape differ.
  double of_tolerance = 0;
  double max_absolute = 0;
  // Empty if of_tolerance is at most 1. Else describes the difference: its place and both values.
  std::string report;
};

// Compares `actual` with `expected`. Floating numbers may differ by
//   atol + rtol * (|expected| + rms)
// where rms is the root mean square of `expected` (0 for a single element). The rms term allows the
// error of a sum in another order. Integers, bools and strings must be equal.
Closeness HoldAgainst(const Array& actual, const Array& expected, double rtol, double atol);

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_CLOSENESS_H_
