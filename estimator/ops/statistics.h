// Sums for computing moments, and histograms.
#ifndef ESTIMATOR_OPS_STATISTICS_H_
#define ESTIMATOR_OPS_STATISTICS_H_

#include <cstdint>
#include <string>

#include "estimator/array/dtype.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"
#include "estimator/ops/reduction.h"

namespace estimator {

struct Sufficient {
  Tensor count;        // [], of x's dtype: the number of elements in each sum
  Tensor mean_ss;      // sum(x - shift)
  Tensor variance_ss;  // sum((x - shift)^2)
  Tensor shift;        // the argument `shift`; invalid if there was none
};
struct SufficientStatisticsOptions {
  // A value near the mean of x, which avoids cancellation. It must broadcast to x's shape.
  Tensor shift = {};
  bool keepdims = false;
  std::string name = "sufficient_statistics";
};
// Sums of x - shift and of its square over the axes. Replicas can add up theirs before they call
// NormalizeMoments.
// Source: TF 2.15 tf.nn.sufficient_statistics.
Sufficient SufficientStatistics(const Tensor& x, const ReduceAxes& axes,
                                const SufficientStatisticsOptions& options = {});
// The mean, and the variance of the population, from such sums.
// Source: TF 2.15 tf.nn.normalize_moments.
MeanAndVariance NormalizeMoments(const Tensor& count, const Tensor& mean_ss,
                                 const Tensor& variance_ss, const Tensor& shift = {},
                                 StringArg name = "normalize");

struct HistogramFixedWidthOptions {
  int64_t nbins = 100;
  DType dtype = DType::kInt32;  // of the counts
  std::string name = "histogram_fixed_width";
};
// The number of values in each of options.nbins bins of equal width in [low, high). Values below
// low are counted in the first bin, values from high on in the last.
//   values: any numeric dtype; low and high are rounded to it.  Returns options.dtype [nbins].
// Errors: INVALID_ARGUMENT if low >= high, if nbins < 1, or if values are integers and low or high
// is not; the step fails with INVALID_ARGUMENT if a value is NaN.
// Source: TF 2.15 tf.histogram_fixed_width.
Tensor HistogramFixedWidth(const Tensor& values, double low, double high,
                           const HistogramFixedWidthOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_OPS_STATISTICS_H_
