// Metrics of yes-no predictions, counted by outcome.
//   labels, predictions: one shape, any dtype; nonzero means yes. Threshold probabilities first, or
//   use Auc.
// Errors: INVALID_ARGUMENT naming both types if shapes differ.
#ifndef ESTIMATOR_NN_METRICS_CONFUSION_H_
#define ESTIMATOR_NN_METRICS_CONFUSION_H_

#include <cstdint>

#include "estimator/graph/tensor.h"
#include "estimator/nn/metrics/metric.h"

namespace estimator::metrics {

// Sums of weights. Variables: `true_positives/count` and so on.
// Source: TF 2.15 tf.compat.v1.metrics.true_positives, ...
Metric TruePositives(const Tensor& labels, const Tensor& predictions, const Options& options = {});
Metric FalsePositives(const Tensor& labels, const Tensor& predictions, const Options& options = {});
Metric TrueNegatives(const Tensor& labels, const Tensor& predictions, const Options& options = {});
Metric FalseNegatives(const Tensor& labels, const Tensor& predictions, const Options& options = {});

// true positives / predicted positives; 0 where nothing was predicted.
// Variables: `precision/true_positives/count`, `precision/false_positives/count`.
Metric Precision(const Tensor& labels, const Tensor& predictions, const Options& options = {});
// true positives / labelled positives; 0 where nothing was labelled.
// Variables: `recall/true_positives/count`, `recall/false_negatives/count`.
Metric Recall(const Tensor& labels, const Tensor& predictions, const Options& options = {});

// Mean over classes of intersection / union, of classes that were labelled or predicted.
//   labels, predictions: i32 or i64, in [0, num_classes).  Variable:
//   `mean_iou/total_confusion_matrix`.
// Errors: of the evaluation, with the first one, if a class lies outside, whatever its weight.
// Source: TF 2.15 tf.compat.v1.metrics.mean_iou.
Metric MeanIou(const Tensor& labels, const Tensor& predictions, int64_t num_classes,
               const Options& options = {});

}  // namespace estimator::metrics

#endif  // ESTIMATOR_NN_METRICS_CONFUSION_H_
