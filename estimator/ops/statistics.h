// Sums from which moments are made, and counts of values by size.
#ifndef ESTIMATOR_OPS_STATISTICS_H_
#define ESTIMATOR_OPS_STATISTICS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "estimator/array/dtype.h"
#include "estimator/graph/tensor.h"
#include "estimator/ops/reduction.h"

namespace estimator {

struct Sufficient {
  Tensor count;        // [], of x's dtype: elements in each sum
  Tensor mean_ss;      // sum(x - shift)
  Tensor variance_ss;  // sum((x - shift)^2)
  Tensor shift;        // as given; invalid: none
};
struct SufficientStatisticsOptions {
  Tensor shift = {};  // near the mean of x, so that nothing cancels; broadcasts to x's shape
  bool keepdims = false;
  std::string name = "sufficient_statistics";
};
// Sums over the axes, for instance to be summed over replicas before NormalizeMoments.
// Source: TF 2.15 tf.nn.sufficient_statistics.
Sufficient SufficientStatistics(const Tensor& x, const ReduceAxes& axes,
                                const SufficientStatisticsOptions& options = {});
// Mean and variance (of the population) of what was summed.
// Source: TF 2.15 tf.nn.normalize_moments.
MeanAndVariance NormalizeMoments(const Tensor& count, const Tensor& mean_ss,
                                 const Tensor& variance_ss, const Tensor& shift = {},
                                 absl::string_view name = "normalize");

struct HistogramFixedWidthOptions {
  int64_t nbins = 100;
  DType dtype = DType::kInt32;  // of the counts
  std::string name = "histogram_fixed_width";
};
// How many values fall into each of `nbins` parts of [low, high) of equal width; the first and the
// last part take what lies outside, too.
//   values: any number; low and high are rounded to its dtype.  Returns dtype [nbins].
// Errors: INVALID_ARGUMENT unless low < high and nbins > 0, or where values of integers have a low
// or high between two; the step fails with INVALID_ARGUMENT if a value is NaN.
// Source: TF 2.15 tf.histogram_fixed_width.
Tensor HistogramFixedWidth(const Tensor& values, double low, double high,
                           const HistogramFixedWidthOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_OPS_STATISTICS_H_
