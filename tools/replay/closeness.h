// How near an array is to what is expected, in units of the tolerance.
#ifndef TOOLS_REPLAY_CLOSENESS_H_
#define TOOLS_REPLAY_CLOSENESS_H_

#include <string>

#include "estimator/array/array.h"

namespace estimator::replay {

struct Closeness {
  // The largest of |actual - expected| / tolerance; 0: equal. Infinite for a NaN or Inf on one side
  // only, and for another dtype or shape.
  double of_tolerance = 0;
  double max_absolute = 0;
  // Empty if of_tolerance is 1 or less; else what differs, where, and both values.
  std::string report;
};

// Numbers may differ by atol + rtol * (|expected| + rms), where rms is the root mean square of
// `expected` (0 for a single element): what a sum in another order errs by. Integers, bools and
// strings must be equal.
Closeness HoldAgainst(const Array& actual, const Array& expected, double rtol, double atol);

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_CLOSENESS_H_
