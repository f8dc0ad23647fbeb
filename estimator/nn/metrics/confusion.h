// Metrics of binary predictions, counted by outcome, and the mean intersection over union.
//   labels, predictions: one shape, any dtype; nonzero means positive. Compare probabilities with a
//     threshold first, or use Auc.
// Errors (kept by the graph): INVALID_ARGUMENT naming both types if shapes differ.
#ifndef ESTIMATOR_NN_METRICS_CONFUSION_H_
#define ESTIMATOR_NN_METRICS_CONFUSION_H_

#include <cstdint>

#include "estimator/graph/tensor.h"
#include "estimator/nn/metrics/metric.h"

namespace estimator::metrics {

// The sum of the weights of elements with this outcome.
//   Variables: `true_positives/count`, `false_positives/count`, `true_negatives/count`,
//              `false_negatives/count`.
// Source: TF 2.15 tf.compat.v1.metrics.true_positives, false_positives, true_negatives,
// false_negatives.
Metric TruePositives(const Tensor& labels, const Tensor& predictions, const Options& options = {});
Metric FalsePositives(const Tensor& labels, const Tensor& predictions, const Options& options = {});
Metric TrueNegatives(const Tensor& labels, const Tensor& predictions, const Options& options = {});
Metric FalseNegatives(const Tensor& labels, const Tensor& predictions, const Options& options = {});

// true positives / predicted positives. The value is 0 if there are no predicted positives.
//   Variables: `precision/true_positives/count`, `precision/false_positives/count`.
// Source: TF 2.15 tf.compat.v1.metrics.precision.
Metric Precision(const Tensor& labels, const Tensor& predictions, const Options& options = {});
// true positives / positive labels. The value is 0 if there are no positive labels.
//   Variables: `recall/true_positives/count`, `recall/false_negatives/count`.
// Source: TF 2.15 tf.compat.v1.metrics.recall.
Metric Recall(const Tensor& labels, const Tensor& predictions, const Options& options = {});

// The mean of intersection / union over the classes that occur in labels or predictions.
//   labels, predictions: i32 or i64, in [0, num_classes).
//   Variables: `mean_iou/total_confusion_matrix` [num_classes, num_classes].
// Errors of the evaluation: a class outside [0, num_classes), whatever its weight.
// Source: TF 2.15 tf.compat.v1.metrics.mean_iou.
Metric MeanIou(const Tensor& labels, const Tensor& predictions, int64_t num_classes,
               const Options& options = {});

}  // namespace estimator::metrics

#endif  // ESTIMATOR_NN_METRICS_CONFUSION_H_
