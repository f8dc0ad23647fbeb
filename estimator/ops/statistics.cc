#include "estimator/ops/statistics.h"

#include "estimator/array/array.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/check_numerics.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {

Sufficient SufficientStatistics(const Tensor& x, const ReduceAxes& axes,
                                const SufficientStatisticsOptions& options) {
  const Tensor& shift = options.shift;
  if (!x.valid()) return {x, x, x, shift};
  const NameScope scope(options.name, *x.graph());
  double count = 1;
  for (int64_t axis : axes.ForRank(x.rank())) {
    if (axis < 0) axis += x.rank();
    // The sums below report an axis that is out of range.
    if (axis >= 0 && axis < x.rank()) count *= static_cast<double>(x.dim(static_cast<int>(axis)));
  }
  const Tensor first = shift.valid() ? Subtract(x, shift, "Sub") : x;
  const Tensor second = shift.valid() ? SquaredDifference(x, shift) : Square(x);
  return {.count = ConstantLike(x, count),
          .mean_ss = ReduceSum(first, axes, {.keepdims = options.keepdims, .name = "mean_ss"}),
          .variance_ss = ReduceSum(second, axes, {.keepdims = options.keepdims, .name = "var_ss"}),
          .shift = shift};
}

MeanAndVariance NormalizeMoments(const Tensor& count, const Tensor& mean_ss,
                                 const Tensor& variance_ss, const Tensor& shift, StringArg name) {
  if (!count.valid()) return {count, count};
  const NameScope scope(name, *count.graph());
  const Tensor divisor = Reciprocal(count, "divisor");
  const Tensor shifted_mean = Multiply(mean_ss, divisor, shift.valid() ? "shifted_mean" : "mean");
  const Tensor mean = shift.valid() ? Add(shifted_mean, shift, "mean") : shifted_mean;
  return {mean, Subtract(Multiply(variance_ss, divisor), Square(shifted_mean), "variance")};
}

Tensor HistogramFixedWidth(const Tensor& values, double low, double high,
                           const HistogramFixedWidthOptions& options) {
  if (!values.valid()) return values;
  Graph& graph = *values.graph();
  const NameScope scope(options.name, graph);
  const Tensor first = ConstantLike(values, low), last = ConstantLike(values, high);
  if (!first.valid() || !last.valid()) return first.valid() ? last : first;
  // The range is rounded to the dtype of the values and then computed in float64, as TensorFlow's
  // kernel does.
  const auto rounded = [&values](double x) {
    return Array::Scalar(x).Cast(values.dtype()).AsDouble();
  };
  low = rounded(low);
  high = rounded(high);
  if (!(low < high) || options.nbins < 1) {
    return graph.Fail(InvalidArgument(
        options.name, ": low must be less than high and nbins positive, got [", low, ", ", high,
        ") as ", DTypeName(values.dtype()), " and ", options.nbins, " bins"));
  }
  Tensor inside = Minimum(Maximum(values, first), last);
  if (IsFloating(values.dtype()))  // infinities are clamped already, so this finds only NaN
    inside = CheckNumerics(inside, "Histogram values must not contain NaN");
  const auto bins = static_cast<double>(options.nbins);
  const Tensor place =
      Divide(Subtract(Cast(inside, DType::kFloat64), low), high / bins - low / bins);
  const Tensor bin = Cast(Minimum(place, bins - 1), DType::kInt32);
  return UnsortedSegmentSum(Ones(values.shape(), options.dtype), bin, options.nbins);
}

}  // namespace estimator
