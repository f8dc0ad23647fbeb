#include "estimator/nn/metrics/accuracy.h"

#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/metrics/mean.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/search.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::metrics {
namespace {

Metric MeanCalled(const char* name, const Tensor& values, const Options& options) {
  if (!values.valid()) return InvalidMetric(values);
  return Mean(values,
              {.weights = options.weights, .name = options.name.empty() ? name : options.name});
}

// Class numbers of the shape of `predictions` without its last axis. Invalid after an error.
Tensor ClassesOf(const char* name, const Tensor& labels, const Tensor& predictions) {
  Graph& graph = GraphFor({predictions, labels});
  if (labels.valid() && predictions.valid() && predictions.rank() > 0) {
    const bool column = labels.rank() == predictions.rank() && labels.dim(-1) == 1;
    const Tensor classes = column ? Squeeze(labels, {-1}) : labels;
    std::vector<int64_t> rows = predictions.shape().dims();
    rows.pop_back();
    if (classes.shape().dims() == rows) return Cast(classes, DType::kInt64);
  }
  return graph.Fail(InvalidArgument(
      name, ": labels are ", labels.spec().ToString(), ", predictions ",
      predictions.spec().ToString(),
      "; labels must be class numbers, of the shape of predictions without its last axis; for "
      "one-hot labels call the function without Sparse"));
}

// The class of each row of one-hot labels. Invalid after an error.
Tensor ClassesOfOneHot(const char* name, const Tensor& labels, const Tensor& predictions) {
  const LabelsAndPredictions pair = MatchShapes(labels, predictions, name);
  if (!pair.labels.valid()) return pair.labels;
  if (pair.labels.rank() == 0) {
    return pair.labels.graph()->Fail(InvalidArgument(name, ": labels and predictions are scalars"));
  }
  return ArgMax(pair.labels, -1);
}

Metric ArgMaxAccuracy(const char* name, const Tensor& classes, const Tensor& predictions,
                      const Options& options) {
  if (!classes.valid()) return InvalidMetric(classes);
  return MeanCalled(name, Equal(ArgMax(predictions, -1), classes), options);
}

Metric TopKCategorical(const char* name, const Tensor& classes, const Tensor& predictions,
                       int64_t k, const Options& options) {
  if (!classes.valid()) return InvalidMetric(classes);
  if (k < 1) {
    return InvalidMetric(
        classes.graph()->Fail(InvalidArgument(name, ": k must be 1 or more, got ", k)));
  }
  const Tensor rows = Cast(Reshape(predictions, Shape{-1, predictions.dim(-1)}), DType::kFloat32);
  const Tensor hits = estimator::InTopK(rows, Reshape(classes, Shape{-1}), k);
  return MeanCalled(name, hits.valid() ? Reshape(hits, classes.shape()) : hits, options);
}

}  // namespace

Metric BinaryAccuracy(const Tensor& labels, const Tensor& predictions,
                      const BinaryAccuracyOptions& options) {
  constexpr char kName[] = "binary_accuracy";
  const LabelsAndPredictions pair = MatchShapes(labels, predictions, kName);
  if (!pair.labels.valid()) return InvalidMetric(pair.labels);
  // The threshold gets the dtype of the predictions, as in Keras: 0.3f is not above 0.3.
  const Tensor scores = IsFloating(pair.predictions.dtype())
                            ? pair.predictions
                            : Cast(pair.predictions, DType::kFloat32);
  const Tensor positive = Greater(scores, options.threshold);
  return MeanCalled(kName,
                    Equal(Cast(positive, DType::kFloat64), Cast(pair.labels, DType::kFloat64)),
                    {.weights = options.weights, .name = options.name});
}

Metric CategoricalAccuracy(const Tensor& labels, const Tensor& predictions,
                           const Options& options) {
  constexpr char kName[] = "categorical_accuracy";
  return ArgMaxAccuracy(kName, ClassesOfOneHot(kName, labels, predictions), predictions, options);
}

Metric SparseCategoricalAccuracy(const Tensor& labels, const Tensor& predictions,
                                 const Options& options) {
  constexpr char kName[] = "sparse_categorical_accuracy";
  return ArgMaxAccuracy(kName, ClassesOf(kName, labels, predictions), predictions, options);
}

Metric TopKCategoricalAccuracy(const Tensor& labels, const Tensor& predictions, int64_t k,
                               const Options& options) {
  constexpr char kName[] = "top_k_categorical_accuracy";
  return TopKCategorical(kName, ClassesOfOneHot(kName, labels, predictions), predictions, k,
                         options);
}

Metric SparseTopKCategoricalAccuracy(const Tensor& labels, const Tensor& predictions, int64_t k,
                                     const Options& options) {
  constexpr char kName[] = "sparse_top_k_categorical_accuracy";
  return TopKCategorical(kName, ClassesOf(kName, labels, predictions), predictions, k, options);
}

}  // namespace estimator::metrics
