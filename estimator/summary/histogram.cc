#include "estimator/summary/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace estimator {
namespace {

std::vector<double> MakeLimits() {
  std::vector<double> positive;
  // TensorFlow multiplies step by step too, so the limits are equal to the last bit.
  for (double limit = 1.0e-12; limit < 1.0e20; limit *= 1.1) positive.push_back(limit);
  positive.push_back(std::numeric_limits<double>::max());
  std::vector<double> limits;
  for (auto limit = positive.rbegin(); limit != positive.rend(); ++limit) limits.push_back(-*limit);
  limits.push_back(0.0);
  limits.insert(limits.end(), positive.begin(), positive.end());
  return limits;
}

const std::vector<double>& Limits() {
  static const auto* const limits = new std::vector<double>(MakeLimits());
  return *limits;
}

}  // namespace

Histogram MakeHistogram(const Array& values) {
  const std::vector<double>& limits = Limits();
  std::vector<double> counts(limits.size(), 0);
  Histogram histogram;
  histogram.min = limits.back();
  histogram.max = -limits.back();
  VisitNumeric(values.dtype(), [&](auto tag) {
    using T = decltype(tag);
    for (const T element : values.values<T>()) {
      const auto value = static_cast<double>(element);
      if (!std::isfinite(value)) continue;
      const auto above = std::upper_bound(limits.begin(), limits.end(), value);
      const auto bucket =
          std::min<size_t>(static_cast<size_t>(above - limits.begin()), limits.size() - 1);
      counts[bucket] += 1;
      histogram.min = std::min(histogram.min, value);
      histogram.max = std::max(histogram.max, value);
      histogram.num += 1;
      histogram.sum += value;
      histogram.sum_squares += value * value;
    }
  });
  for (size_t i = 0; i < counts.size();) {
    double limit = limits[i];
    const double count = counts[i];
    ++i;
    if (count <= 0) {
      // A run of empty buckets becomes one bucket.
      while (i < counts.size() && counts[i] <= 0) limit = limits[i++];
    }
    histogram.limits.push_back(limit);
    histogram.buckets.push_back(count);
  }
  return histogram;
}

}  // namespace estimator
