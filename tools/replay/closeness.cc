#include "tools/replay/closeness.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "estimator/array/compare.h"

namespace estimator::replay {
namespace {

double RootMeanSquare(const Array& array) {
  if (array.num_elements() <= 1) return 0;
  double sum = 0;
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    const double value = array.AsDouble(i);
    if (std::isfinite(value)) sum += value * value;
  }
  return std::sqrt(sum / static_cast<double>(array.num_elements()));
}

}  // namespace

Closeness HoldAgainst(const Array& actual, const Array& expected, double rtol, double atol) {
  Tolerance tolerance;
  if (IsFloating(expected.dtype())) {
    tolerance = {.relative = rtol, .absolute = atol + rtol * RootMeanSquare(expected)};
  }
  const Difference difference = Compare(actual, expected, tolerance);
  Closeness closeness = {
      .of_tolerance = 0, .max_absolute = difference.max_absolute, .report = difference.report};
  if (actual.dtype() != expected.dtype() || !(actual.shape() == expected.shape()) ||
      !IsFloating(expected.dtype())) {
    if (!difference.equal) closeness.of_tolerance = std::numeric_limits<double>::infinity();
    return closeness;
  }
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const double a = actual.AsDouble(i), e = expected.AsDouble(i);
    if (a == e || (std::isnan(a) && std::isnan(e))) continue;
    const double allowed = tolerance.absolute + tolerance.relative * std::abs(e);
    const double ratio = std::isfinite(a) && std::isfinite(e)
                             ? std::abs(a - e) / allowed  // Inf if `allowed` is 0
                             : std::numeric_limits<double>::infinity();
    closeness.of_tolerance = std::max(closeness.of_tolerance, ratio);
  }
  return closeness;
}

}  // namespace estimator::replay
