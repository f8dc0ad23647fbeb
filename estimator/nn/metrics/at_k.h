// Precision and recall of the k best classes.
#ifndef ESTIMATOR_NN_METRICS_AT_K_H_
#define ESTIMATOR_NN_METRICS_AT_K_H_

#include <cstdint>

#include "estimator/graph/tensor.h"
#include "estimator/nn/metrics/metric.h"

namespace estimator::metrics {

// Over all rows: the classes among the k largest predictions that are labels, divided by the number
// of labels (recall) or by k per row (precision).
//   labels: i32 or i64 [N] or [N, L], different ones in a row; a label that is no class is never
//   found. predictions: floating [N, C].  weights: a number or [N]. Variables:
//   `recall_at_<k>/true_positive_at_<k>`, `false_negative_at_<k>`;
//   `precision_at_<k>/true_positive_at_<k>`, `false_positive_at_<k>`.
// Errors: INVALID_ARGUMENT naming both types if rows differ, or if k is more than C.
// Source: TF 2.15 tf.compat.v1.metrics.recall_at_k, precision_at_k.
Metric RecallAtK(const Tensor& labels, const Tensor& predictions, int64_t k,
                 const Options& options = {});
Metric PrecisionAtK(const Tensor& labels, const Tensor& predictions, int64_t k,
                    const Options& options = {});

}  // namespace estimator::metrics

#endif  // ESTIMATOR_NN_METRICS_AT_K_H_
