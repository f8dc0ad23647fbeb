// Accuracies of scores: probabilities or logits, under Keras' names.
// Errors (kept by the graph): INVALID_ARGUMENT naming both types if shapes do not fit.
#ifndef ESTIMATOR_NN_METRICS_ACCURACY_H_
#define ESTIMATOR_NN_METRICS_ACCURACY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "estimator/graph/tensor.h"
#include "estimator/nn/metrics/metric.h"

namespace estimator::metrics {

struct BinaryAccuracyOptions {
  std::optional<Operand> weights = std::nullopt;
  std::string name = "";   // none: binary_accuracy, binary_accuracy_1, ...
  double threshold = 0.5;  // of probabilities; for logits 0
};
// The fraction of elements whose label is 1 where prediction > threshold, and 0 elsewhere.
//   labels: 0 or 1.  predictions: of the labels' shape.
//   Variables: `binary_accuracy/total`, `binary_accuracy/count`.
// Source: TF 2.15 tf.keras.metrics.BinaryAccuracy.
Metric BinaryAccuracy(const Tensor& labels, const Tensor& predictions,
                      const BinaryAccuracyOptions& options = {});

// The fraction of rows in which labels and predictions are largest at the same class.
//   labels: one-hot or probabilities [..., C].  predictions: probabilities or logits [..., C].
// Source: TF 2.15 tf.keras.metrics.CategoricalAccuracy.
Metric CategoricalAccuracy(const Tensor& labels, const Tensor& predictions,
                           const Options& options = {});
// The same with class numbers.
//   labels: [...] or [..., 1], any numeric dtype.  predictions: [..., C].
// Source: TF 2.15 tf.keras.metrics.SparseCategoricalAccuracy.
Metric SparseCategoricalAccuracy(const Tensor& labels, const Tensor& predictions,
                                 const Options& options = {});

// The fraction of rows whose class is among the k largest predictions. As in Keras, a row whose
// prediction for its class is not finite does not count as a hit.
//   labels: one-hot [..., C].  predictions: [..., C].
// Errors (kept by the graph): INVALID_ARGUMENT if k < 1.
// Source: TF 2.15 tf.keras.metrics.TopKCategoricalAccuracy.
Metric TopKCategoricalAccuracy(const Tensor& labels, const Tensor& predictions, int64_t k = 5,
                               const Options& options = {});
// The same with class numbers.
// Source: TF 2.15 tf.keras.metrics.SparseTopKCategoricalAccuracy.
Metric SparseTopKCategoricalAccuracy(const Tensor& labels, const Tensor& predictions, int64_t k = 5,
                                     const Options& options = {});

}  // namespace estimator::metrics

#endif  // ESTIMATOR_NN_METRICS_ACCURACY_H_
