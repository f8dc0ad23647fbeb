#include "estimator/nn/metrics/mean.h"

#include "estimator/base/status.h"
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

// The mean of errors_of(labels, predictions), for each element of both as f64, or its root.
template <typename Fn>
Metric MeanError(const char* name, const Tensor& labels, const Tensor& predictions,
                 const Options& options, const Fn& errors_of, bool root = false) {
  const MetricScope scope(options.name, name);
  const LabelsAndPredictions pair = MatchShapes(labels, predictions, name);
  if (!pair.labels.valid()) return InvalidMetric(pair.labels);
  const Tensor wide_labels = Cast(pair.labels, DType::kFloat64);
  Metric metric = MeanOf(errors_of(wide_labels, Cast(pair.predictions, DType::kFloat64)),
                         options.weights, name);
  if (root && metric.value.valid()) metric.value = Sqrt(metric.value);
  return metric;
}

Tensor SquaredError(const Tensor& labels, const Tensor& predictions) {
  return SquaredDifference(predictions, labels);
}

}  // namespace

Metric Mean(const Tensor& values, const Options& options) {
  const MetricScope scope(options.name, "mean");
  return MeanOf(values, options.weights, "mean");
}

Metric Accuracy(const Tensor& labels, const Tensor& predictions, const Options& options) {
  const MetricScope scope(options.name, "accuracy");
  if (predictions.valid() && IsFloating(predictions.dtype())) {
    return InvalidMetric(predictions.graph()->Fail(InvalidArgument(
        "accuracy: predictions are ", predictions.spec().ToString(), ", labels ",
        labels.valid() ? labels.spec().ToString() : "not a tensor",
        "; it compares classes, and floating predictions are scores: call BinaryAccuracy(labels, "
        "predictions, {.threshold = 0.5}), CategoricalAccuracy for one-hot labels, "
        "SparseCategoricalAccuracy for class numbers, or pass ArgMax(logits, 1)")));
  }
  const LabelsAndPredictions pair = MatchShapes(labels, predictions, "accuracy");
  if (!pair.labels.valid()) return InvalidMetric(pair.labels);
  const Tensor correct = Equal(Cast(pair.predictions, pair.labels.dtype()), pair.labels);
  return MeanOf(correct, options.weights, "accuracy");
}

Metric MeanSquaredError(const Tensor& labels, const Tensor& predictions, const Options& options) {
  return MeanError("mean_squared_error", labels, predictions, options, SquaredError);
}

Metric RootMeanSquaredError(const Tensor& labels, const Tensor& predictions,
                            const Options& options) {
  return MeanError("root_mean_squared_error", labels, predictions, options, SquaredError,
                   /*root=*/true);
}

Metric MeanAbsoluteError(const Tensor& labels, const Tensor& predictions, const Options& options) {
  return MeanError("mean_absolute_error", labels, predictions, options,
                   [](const Tensor& l, const Tensor& p) { return Abs(p - l); });
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
