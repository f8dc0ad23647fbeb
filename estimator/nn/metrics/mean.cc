#include "estimator/nn/metrics/mean.h"

#include "estimator/graph/graph.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/search.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::metrics {
namespace {

// total += sum(values * weights), count += sum(weights); the value is total / count.
Metric MeanOf(const Tensor& values, const std::optional<Operand>& weights, absl::string_view who) {
  const Tensor wide = Cast(values, DType::kFloat64);
  if (!wide.valid()) return InvalidMetric(values);
  const Variable total = MetricScope::Sum("total"), count = MetricScope::Sum("count");
  Tensor batch_total, batch_count;
  if (weights.has_value()) {
    const Tensor full = FullWeights(weights, wide, who);
    if (!full.valid()) return InvalidMetric(values);
    batch_total = ReduceSum(wide * full);
    batch_count = ReduceSum(full);
  } else {
    batch_total = ReduceSum(wide);
    batch_count = ConstantLike(wide, static_cast<double>(wide.shape().num_elements()));
  }
  return {DivideNoNan(total, count, "value"),
          Group({AssignAdd(total, batch_total), AssignAdd(count, batch_count)}, "update_op")};
}

// Returns both in one shape, as f64.
LabelsAndPredictions Match(const Tensor& labels, const Tensor& predictions, absl::string_view who) {
  LabelsAndPredictions pair = MatchShapes(labels, predictions, who);
  if (!pair.labels.valid()) return pair;
  return {Cast(pair.labels, DType::kFloat64), Cast(pair.predictions, DType::kFloat64)};
}

}  // namespace

Metric Mean(const Tensor& values, const Options& options) {
  const MetricScope scope(options.name, "mean");
  return MeanOf(values, options.weights, "mean");
}

Metric Accuracy(const Tensor& labels, const Tensor& predictions, const Options& options) {
  const MetricScope scope(options.name, "accuracy");
  const LabelsAndPredictions pair = MatchShapes(labels, predictions, "accuracy");
  if (!pair.labels.valid()) return InvalidMetric(pair.labels);
  const Tensor correct = Equal(Cast(pair.predictions, pair.labels.dtype()), pair.labels);
  return MeanOf(correct, options.weights, "accuracy");
}

Metric MeanSquaredError(const Tensor& labels, const Tensor& predictions, const Options& options) {
  const MetricScope scope(options.name, "mean_squared_error");
  const LabelsAndPredictions pair = Match(labels, predictions, "mean_squared_error");
  if (!pair.labels.valid()) return InvalidMetric(pair.labels);
  return MeanOf(SquaredDifference(pair.predictions, pair.labels), options.weights,
                "mean_squared_error");
}

Metric RootMeanSquaredError(const Tensor& labels, const Tensor& predictions,
                            const Options& options) {
  const MetricScope scope(options.name, "root_mean_squared_error");
  const LabelsAndPredictions pair = Match(labels, predictions, "root_mean_squared_error");
  if (!pair.labels.valid()) return InvalidMetric(pair.labels);
  Metric metric = MeanOf(SquaredDifference(pair.predictions, pair.labels), options.weights,
                         "root_mean_squared_error");
  if (metric.value.valid()) metric.value = Sqrt(metric.value);
  return metric;
}

Metric MeanAbsoluteError(const Tensor& labels, const Tensor& predictions, const Options& options) {
  const MetricScope scope(options.name, "mean_absolute_error");
  const LabelsAndPredictions pair = Match(labels, predictions, "mean_absolute_error");
  if (!pair.labels.valid()) return InvalidMetric(pair.labels);
  return MeanOf(Abs(pair.predictions - pair.labels), options.weights, "mean_absolute_error");
}

Metric InTopK(const Tensor& labels, const Tensor& predictions, int64_t k, const Options& options) {
  const MetricScope scope(options.name, "in_top_k");
  return MeanOf(estimator::InTopK(predictions, labels, k), options.weights, "in_top_k");
}

Metric MeanPerClassAccuracy(const Tensor& labels, const Tensor& predictions, int64_t num_classes,
                            const Options& options) {
  const MetricScope scope(options.name, "mean_accuracy");
  const LabelsAndPredictions pair = MatchShapes(labels, predictions, "mean_per_class_accuracy");
  if (!pair.labels.valid()) return InvalidMetric(pair.labels);
  const Variable total = MetricScope::Sum("total", {num_classes}),
                 count = MetricScope::Sum("count", {num_classes});
  const Tensor weights = FullWeights(options.weights, pair.labels, "mean_per_class_accuracy");
  if (!weights.valid()) return InvalidMetric(labels);
  const Tensor correct =
      Cast(Equal(Cast(pair.predictions, pair.labels.dtype()), pair.labels), DType::kFloat64);
  const Tensor checked = CheckClasses(pair.labels, num_classes, "mean_per_class_accuracy: labels");
  const Tensor classes =
      OneHot(Reshape(checked, Shape{-1}), num_classes, {.dtype = DType::kFloat64});  // [N, C]
  const Tensor weighted = classes * Reshape(weights, Shape{-1, 1});
  const Tensor batch_total = ReduceSum(weighted * Reshape(correct, Shape{-1, 1}), 0);
  const Tensor value = ReduceMean(DivideNoNan(total, count), ReduceAxes::All(), {.name = "value"});
  return {value, Group({AssignAdd(total, batch_total), AssignAdd(count, ReduceSum(weighted, 0))},
                       "update_op")};
}

}  // namespace estimator::metrics
