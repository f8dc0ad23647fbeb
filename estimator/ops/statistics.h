// Sums from which moments are made, and counts of values by size.
#ifndef ESTIMATOR_OPS_STATISTICS_H_
#define ESTIMATOR_OPS_STATISTICS_H_

#include <cstdint>

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
// Sums over the axes, for instance to be summed over replicas before NormalizeMoments.
//   shift: near the mean of x, so that nothing cancels; of a shape that broadcasts to x's.
// Source: TF 2.15 tf.nn.sufficient_statistics.
Sufficient SufficientStatistics(const Tensor& x, const ReduceAxes& axes, const Tensor& shift = {},
                                bool keepdims = false,
                                absl::string_view name = "sufficient_statistics");
// Mean and variance (of the population) of what was summed.
// Source: TF 2.15 tf.nn.normalize_moments.
MeanAndVariance NormalizeMoments(const Tensor& count, const Tensor& mean_ss,
                                 const Tensor& variance_ss, const Tensor& shift = {},
                                 absl::string_view name = "normalize");

// How many values fall into each of `nbins` parts of [low, high) of equal width; the first and the
// last part take what lies outside, too.
//   values: any number; low and high are rounded to its dtype.  Returns dtype [nbins].
// Errors: INVALID_ARGUMENT unless low < high and nbins > 0, or where values of integers have a low
// or high between two; the step fails with INVALID_ARGUMENT if a value is NaN.
// Source: TF 2.15 tf.histogram_fixed_width.
Tensor HistogramFixedWidth(const Tensor& values, double low, double high, int64_t nbins = 100,
                           DType dtype = DType::kInt32,
                           absl::string_view name = "histogram_fixed_width");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_STATISTICS_H_
