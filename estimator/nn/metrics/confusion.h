// Metrics of binary predictions, counted by outcome, and those of a confusion matrix.
//   labels, predictions: one shape, any dtype; nonzero means positive. Compare probabilities with a
//     threshold first (Greater(probabilities, 0.5)), or use Auc.
// Errors (kept by the graph): INVALID_ARGUMENT naming both types if shapes differ.
#ifndef ESTIMATOR_NN_METRICS_CONFUSION_H_
#define ESTIMATOR_NN_METRICS_CONFUSION_H_

#include <cstdint>
#include <optional>
#include <string>

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

// How often each class was predicted for each label: f64 [num_classes, num_classes], with labels as
// rows. Weights are added in place of 1.
//   labels, predictions: i32 or i64, in [0, num_classes).
//   Variables: `confusion_matrix/total_confusion_matrix` [num_classes, num_classes].
// Errors of the evaluation: a class outside [0, num_classes), whatever its weight.
// Source: TF 2.15 tf.math.confusion_matrix, summed over batches.
Metric ConfusionMatrix(const Tensor& labels, const Tensor& predictions, int64_t num_classes,
                       const Options& options = {});

// The mean of intersection / union over the classes that occur in labels or predictions.
//   labels, predictions: i32 or i64, in [0, num_classes).
//   Variables: `mean_iou/total_confusion_matrix` [num_classes, num_classes].
// Errors of the evaluation: a class outside [0, num_classes), whatever its weight.
// Source: TF 2.15 tf.compat.v1.metrics.mean_iou.
Metric MeanIou(const Tensor& labels, const Tensor& predictions, int64_t num_classes,
               const Options& options = {});

enum class KappaWeighting { kNone, kLinear, kQuadratic };
struct CohenKappaOptions {
  std::optional<Operand> weights = std::nullopt;
  std::string name = "";  // none: cohen_kappa, cohen_kappa_1, ...
  // The disagreement of classes i and k: 1 if they differ, |i - k|, or (i - k)^2.
  KappaWeighting weighting = KappaWeighting::kNone;
};
// Agreement beyond chance: 1 - observed disagreement / disagreement by chance, where chance has the
// same frequencies of labels and of predictions. 1 is full agreement, and 0 that of chance. The
// value is 1 if chance has no disagreement: without examples, or with one class only.
//   labels, predictions: i32 or i64, in [0, num_classes).
//   Variables: `cohen_kappa/total_confusion_matrix` [num_classes, num_classes].
// Errors of the evaluation: a class outside [0, num_classes), whatever its weight.
// Source: Cohen 1960 and 1968; tfa.metrics.CohenKappa.
Metric CohenKappa(const Tensor& labels, const Tensor& predictions, int64_t num_classes,
                  const CohenKappaOptions& options = {});

}  // namespace estimator::metrics

#endif  // ESTIMATOR_NN_METRICS_CONFUSION_H_
