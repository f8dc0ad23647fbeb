// Pearson's correlation of labels and predictions.
#ifndef ESTIMATOR_NN_METRICS_CORRELATION_H_
#define ESTIMATOR_NN_METRICS_CORRELATION_H_

#include "estimator/graph/tensor.h"
#include "estimator/nn/metrics/metric.h"

namespace estimator::metrics {

// The covariance over the product of the standard deviations, in [-1, 1]. The value is 0 if labels
// or predictions are constant. The sums are those of deviations from the mean, so that a large mean
// does not cost digits.
//   labels, predictions: one shape, any numeric dtype; every element counts.
//   Variables: `count`, `mean_label`, `mean_prediction`, `m2_label`, `m2_prediction` and
//     `comoment` in the scope `pearson_correlation`.
// Errors (kept by the graph): INVALID_ARGUMENT naming both types if shapes differ.
// Source: TF 1.15 tf.contrib.metrics.streaming_pearson_correlation.
Metric PearsonCorrelation(const Tensor& labels, const Tensor& predictions,
                          const Options& options = {});

}  // namespace estimator::metrics

#endif  // ESTIMATOR_NN_METRICS_CORRELATION_H_
