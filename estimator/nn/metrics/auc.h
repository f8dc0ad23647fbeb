// The area under a curve: receiver operating characteristic (ROC), or precision and recall (PR).
#ifndef ESTIMATOR_NN_METRICS_AUC_H_
#define ESTIMATOR_NN_METRICS_AUC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimator/graph/tensor.h"
#include "estimator/nn/metrics/metric.h"

namespace estimator::metrics {

enum class Curve {
  kRoc,  // recall over the false positive rate
  kPr,   // precision over recall
};

struct AucOptions {
  std::optional<Operand> weights = std::nullopt;
  std::string name = "";  // none: auc, auc_1, ...
  int64_t num_thresholds = 200;
  Curve curve = Curve::kRoc;
  // True: labels and predictions are [N, L], and the value is the mean of the labels' areas.
  // False: all elements count as examples of one label.
  bool multi_label = false;
};

// Counts outcomes at `num_thresholds` thresholds. An ROC curve is integrated by trapezoids, and a
// PR curve by interpolating the true positives (Davis and Goadrich, 2006).
//   labels: nonzero means positive.  predictions: floating, in [0, 1], of the labels' shape.
//   weights: as of every metric; [N] gives each example a weight.
//   Variables: `auc/true_positives`, `auc/false_negatives`, `auc/true_negatives`,
//              `auc/false_positives`, each [num_thresholds], or with multi_label
//              [num_thresholds, L].
// A label without positive or without negative examples has the area 0 with multi_label, as in
// Keras. Without it, 1e-6 is added to divisors, as in TensorFlow's own function.
// Errors (kept by the graph): INVALID_ARGUMENT naming both types if shapes differ, or for another
// rank than 2 with multi_label.
// Errors of the evaluation: a prediction outside [0, 1] (for example a logit), whatever its weight.
// Source: TF 2.15 tf.compat.v1.metrics.auc (trapezoidal, careful_interpolation);
// tf.keras.metrics.AUC for multi_label and PR.
Metric Auc(const Tensor& labels, const Tensor& predictions, const AucOptions& options = {});

// The areas of all labels and their mean, from one set of variables. Keys of the result, with
// options.name or "auc": `auc` (the mean) and `auc/LABEL` for each name of `label_names`.
//   labels, predictions: [N, L]. options.multi_label is taken as true.
//   MetricMap metrics = metrics::AucByLabel(labels, probabilities, {"healthy", "rust"});
// Errors (kept by the graph): as Auc; INVALID_ARGUMENT if there are not L different names.
MetricMap AucByLabel(const Tensor& labels, const Tensor& predictions,
                     const std::vector<std::string>& label_names, const AucOptions& options = {});

}  // namespace estimator::metrics

#endif  // ESTIMATOR_NN_METRICS_AUC_H_
