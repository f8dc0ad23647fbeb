// Area under the receiver operating characteristic.
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

// The curve of recall over false positive rate at `num_thresholds` thresholds, integrated by
// trapezoids.
//   labels: nonzero means yes.  predictions: floating, in [0, 1]; one shape.
//   Variables: `auc/true_positives`, `false_negatives`, `true_negatives`, `false_positives`, each
//   [num_thresholds].
// Errors: INVALID_ARGUMENT naming both types if shapes differ; of the evaluation, with the first
// one, if a prediction lies outside [0, 1] (a logit), whatever its weight.
// Source: TF 2.15 tf.compat.v1.metrics.auc (curve ROC, summation trapezoidal).
Metric Auc(const Tensor& labels, const Tensor& predictions, const AucOptions& options = {});

}  // namespace estimator::metrics

#endif  // ESTIMATOR_NN_METRICS_AUC_H_
