// Metrics that are means of values, of correct predictions, or of errors.
#ifndef ESTIMATOR_NN_METRICS_MEAN_H_
#define ESTIMATOR_NN_METRICS_MEAN_H_

#include <cstdint>

#include "estimator/graph/tensor.h"
#include "estimator/nn/metrics/metric.h"

namespace estimator::metrics {

// sum(values * weights) / sum(weights) over all batches. The value is 0 if the weights sum to 0.
//   values: any numeric dtype or bool, any shape.  Value: f64 [].
//   Variables: `mean/total`, `mean/count`.
// Source: TF 2.15 tf.compat.v1.metrics.mean.
Metric Mean(const Tensor& values, const Options& options = {});

// The fraction of elements whose prediction equals the label.
//   labels, predictions: one shape, for example i32 [N] and ArgMax(logits, 1). A last axis of size
//     1 that only one of them has is dropped.
//   Variables: `accuracy/total`, `accuracy/count`.
// Errors (kept by the graph, also of all functions below): INVALID_ARGUMENT naming both types if
// shapes differ.
// Errors (kept by the graph): INVALID_ARGUMENT for floating predictions, which are scores and never
// equal a label: see BinaryAccuracy and CategoricalAccuracy (accuracy.h).
// Source: TF 2.15 tf.compat.v1.metrics.accuracy.
Metric Accuracy(const Tensor& labels, const Tensor& predictions, const Options& options = {});

// With prediction p and label l: mean((p - l)^2), sqrt(mean((p - l)^2)) and mean(|p - l|).
//   Variables: `total` and `count` in the scopes `mean_squared_error`, `root_mean_squared_error`
//   and `mean_absolute_error`.
// Source: TF 2.15 tf.compat.v1.metrics, the functions of these names.
Metric MeanSquaredError(const Tensor& labels, const Tensor& predictions,
                        const Options& options = {});
Metric RootMeanSquaredError(const Tensor& labels, const Tensor& predictions,
                            const Options& options = {});
Metric MeanAbsoluteError(const Tensor& labels, const Tensor& predictions,
                         const Options& options = {});

// The fraction of rows whose label is among the k largest predictions (top-k accuracy).
//   labels: i32 or i64 [N].  predictions: f32 [N, C].
//   Variables: `in_top_k/total`, `in_top_k/count`.
Metric InTopK(const Tensor& labels, const Tensor& predictions, int64_t k,
              const Options& options = {});

// The mean over all classes of the accuracy among the elements of that class. As in TensorFlow, a
// class without elements counts as 0.
//   labels, predictions: i32 or i64, in [0, num_classes).
//   Variables: `mean_accuracy/total`, `mean_accuracy/count`, each [num_classes].
// Errors of the evaluation: a label outside [0, num_classes).
// Source: TF 2.15 tf.compat.v1.metrics.mean_per_class_accuracy.
Metric MeanPerClassAccuracy(const Tensor& labels, const Tensor& predictions, int64_t num_classes,
                            const Options& options = {});

}  // namespace estimator::metrics

#endif  // ESTIMATOR_NN_METRICS_MEAN_H_
