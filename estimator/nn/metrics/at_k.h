// Precision and recall of the k classes with the largest predictions.
#ifndef ESTIMATOR_NN_METRICS_AT_K_H_
#define ESTIMATOR_NN_METRICS_AT_K_H_

#include <cstdint>

#include "estimator/graph/tensor.h"
#include "estimator/nn/metrics/metric.h"

namespace estimator::metrics {

// A hit is a class among the k largest predictions of a row that is a label of that row. Over all
// rows, recall is hits / labels, and precision is hits / (k * rows).
//   labels: i32 or i64 [N] or [N, L]. The labels of a row must differ from each other. A label that
//     is outside [0, C) is never a hit.
//   predictions: floating [N, C].  weights: a number or [N].
//   Variables: `recall_at_<k>/true_positive_at_<k>`, `recall_at_<k>/false_negative_at_<k>`;
//              `precision_at_<k>/true_positive_at_<k>`, `precision_at_<k>/false_positive_at_<k>`.
// Errors (kept by the graph): INVALID_ARGUMENT naming both types if N differs, or if k > C.
// Source: TF 2.15 tf.compat.v1.metrics.recall_at_k, precision_at_k.
Metric RecallAtK(const Tensor& labels, const Tensor& predictions, int64_t k,
                 const Options& options = {});
Metric PrecisionAtK(const Tensor& labels, const Tensor& predictions, int64_t k,
                    const Options& options = {});

}  // namespace estimator::metrics

#endif  // ESTIMATOR_NN_METRICS_AT_K_H_
