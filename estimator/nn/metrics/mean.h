// Metrics that are means: of values, of correct predictions, of errors.
#ifndef ESTIMATOR_NN_METRICS_MEAN_H_
#define ESTIMATOR_NN_METRICS_MEAN_H_

#include <cstdint>

#include "estimator/graph/tensor.h"
#include "estimator/nn/metrics/metric.h"

namespace estimator::metrics {

// sum(values * weights) / sum(weights) over all batches; 0 where no weight was seen.
//   values: any number or bool, any shape.  Value: f64 [].  Variables: `mean/total`, `mean/count`.
// Source: TF 2.15 tf.compat.v1.metrics.mean.
Metric Mean(const Tensor& values, const Options& options = {});

// The fraction of elements where predictions equal labels. Variables: `accuracy/total`,
// `accuracy/count`.
//   labels, predictions: one shape (a last axis of size 1 apart), e.g. i32 [N] and ArgMax(logits,
//   1).
// Errors (of this and all below): INVALID_ARGUMENT naming both types if shapes differ.
// Source: TF 2.15 tf.compat.v1.metrics.accuracy.
Metric Accuracy(const Tensor& labels, const Tensor& predictions, const Options& options = {});

// Means over elements of (p - l)^2, its root, and |p - l|. Scopes as the names in snake_case.
Metric MeanSquaredError(const Tensor& labels, const Tensor& predictions,
                        const Options& options = {});
Metric RootMeanSquaredError(const Tensor& labels, const Tensor& predictions,
                            const Options& options = {});
Metric MeanAbsoluteError(const Tensor& labels, const Tensor& predictions,
                         const Options& options = {});

// The fraction of rows whose label is among the k largest predictions ("top-5 accuracy").
//   labels: i32 or i64 [N].  predictions: f32 [N, C].  Scope: in_top_k.
Metric InTopK(const Tensor& labels, const Tensor& predictions, int64_t k,
              const Options& options = {});

// The mean, over the classes seen, of the accuracy among the elements of that class.
//   labels, predictions: i32 or i64, in [0, num_classes).  Variables: `mean_accuracy/total`,
//   `count`. Errors: of the evaluation, with the first one, if a label lies outside.
// Source: TF 2.15 tf.compat.v1.metrics.mean_per_class_accuracy (a class never seen counts 0 there,
// and here).
Metric MeanPerClassAccuracy(const Tensor& labels, const Tensor& predictions, int64_t num_classes,
                            const Options& options = {});

}  // namespace estimator::metrics

#endif  // ESTIMATOR_NN_METRICS_MEAN_H_
