// The area under the receiver operating characteristic (ROC) curve.
#ifndef ESTIMATOR_NN_METRICS_AUC_H_
#define ESTIMATOR_NN_METRICS_AUC_H_

#include <cstdint>
#include <optional>
#include <string>

#include "estimator/graph/tensor.h"
#include "estimator/nn/metrics/metric.h"

namespace estimator::metrics {

struct AucOptions {
  std::optional<Operand> weights = std::nullopt;
  std::string name = "";  // none: auc, auc_1, ...
  int64_t num_thresholds = 200;
};

// Computes recall and false positive rate at `num_thresholds` thresholds, and integrates recall
// over false positive rate by trapezoids.
//   labels: nonzero means positive.  predictions: floating, in [0, 1], of the labels' shape.
//   Variables: `auc/true_positives`, `auc/false_negatives`, `auc/true_negatives`,
//              `auc/false_positives`, each [num_thresholds].
// Errors (kept by the graph): INVALID_ARGUMENT naming both types if shapes differ.
// Errors of the evaluation: a prediction outside [0, 1] (for example a logit), whatever its weight.
// Source: TF 2.15 tf.compat.v1.metrics.auc (curve ROC, summation trapezoidal).
Metric Auc(const Tensor& labels, const Tensor& predictions, const AucOptions& options = {});

}  // namespace estimator::metrics

#endif  // ESTIMATOR_NN_METRICS_AUC_H_
