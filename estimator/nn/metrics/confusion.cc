#include "estimator/nn/metrics/confusion.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::metrics {
namespace {

// Labels, predictions and weights, ready to be counted.
class Outcomes {
 public:
  Outcomes(const Tensor& labels, const Tensor& predictions, const Options& options,
           absl::string_view who) {
    const LabelsAndPredictions pair = MatchShapes(labels, predictions, who);
    labels_ = pair.labels;
    if (!pair.labels.valid()) return;
    labels_ = Cast(pair.labels, DType::kBool);
    predictions_ = Cast(pair.predictions, DType::kBool);
    weights_ = FullWeights(options.weights, pair.labels, who);
  }
  bool valid() const { return weights_.valid(); }
  Metric Invalid() const { return InvalidMetric(labels_); }

  // Counts elements with this label and this prediction, in the variable `count` of this scope.
  Metric Count(bool label, bool prediction) const {
    const Variable count = MetricScope::Sum("count");
    const Tensor met = LogicalAnd(label ? labels_ : LogicalNot(labels_),
                                  prediction ? predictions_ : LogicalNot(predictions_));
    const Tensor batch = ReduceSum(Cast(met, DType::kFloat64) * weights_);
    return {Identity(count, "value"), AssignAdd(count, batch, "update_op")};
  }

 private:
  Tensor labels_, predictions_, weights_;
};

Metric CountOf(bool label, bool prediction, const char* name, const Tensor& labels,
               const Tensor& predictions, const Options& options) {
  const MetricScope scope(options.name, name);
  const Outcomes outcomes(labels, predictions, options, name);
  return outcomes.valid() ? outcomes.Count(label, prediction) : outcomes.Invalid();
}

// Returns a / (a + b), where a are the true positives and b is one kind of error.
Metric Share(bool label, bool prediction, const char* error_name, const char* name,
             const Tensor& labels, const Tensor& predictions, const Options& options) {
  const MetricScope scope(options.name, name);
  const Outcomes outcomes(labels, predictions, options, name);
  if (!outcomes.valid()) return outcomes.Invalid();
  Metric hits, errors;
  {
    const MetricScope inner("", "true_positives");
    hits = outcomes.Count(true, true);
  }
  {
    const MetricScope inner("", error_name);
    errors = outcomes.Count(label, prediction);
  }
  if (!hits.value.valid() || !errors.value.valid()) return outcomes.Invalid();
  return {DivideNoNan(hits.value, hits.value + errors.value, "value"),
          Group({hits.update, errors.update}, "update_op")};
}

// The confusion matrix of all batches. Its value is that of the variable; invalid after an error.
Metric Confusions(const Tensor& labels, const Tensor& predictions, int64_t num_classes,
                  const Options& options, const std::string& who) {
  const LabelsAndPredictions pair = MatchShapes(labels, predictions, who);
  if (!pair.labels.valid()) return InvalidMetric(pair.labels);
  const Variable matrix = MetricScope::Sum("total_confusion_matrix", {num_classes, num_classes});
  const Tensor weights = FullWeights(options.weights, pair.labels, who);
  if (!weights.valid()) return InvalidMetric(weights);
  const auto one_hot = [num_classes](const Tensor& classes, const std::string& what) {
    return OneHot(Reshape(CheckClasses(classes, num_classes, what), Shape{-1}), num_classes,
                  {.dtype = DType::kFloat64});  // [N, C]
  };
  const Tensor batch = MatMul(one_hot(pair.labels, absl::StrCat(who, ": labels")),
                              one_hot(pair.predictions, absl::StrCat(who, ": predictions")) *
                                  Reshape(weights, Shape{-1, 1}),
                              {.transpose_a = true});
  return {matrix.read(), AssignAdd(matrix, batch, "update_op")};
}

// The disagreement of two classes: f64 [C, C], 0 on the diagonal.
Tensor Disagreement(int64_t num_classes, KappaWeighting weighting) {
  Array array(DType::kFloat64, {num_classes, num_classes});
  for (int64_t i = 0; i < num_classes; ++i) {
    for (int64_t k = 0; k < num_classes; ++k) {
      const auto distance = static_cast<double>(std::abs(i - k));
      array.data<double>()[i * num_classes + k] =
          weighting == KappaWeighting::kNone     ? (i == k ? 0 : 1)
          : weighting == KappaWeighting::kLinear ? distance
                                                 : distance * distance;
    }
  }
  return Constant(array);
}

}  // namespace

Metric TruePositives(const Tensor& labels, const Tensor& predictions, const Options& options) {
  return CountOf(true, true, "true_positives", labels, predictions, options);
}
Metric FalsePositives(const Tensor& labels, const Tensor& predictions, const Options& options) {
  return CountOf(false, true, "false_positives", labels, predictions, options);
}
Metric TrueNegatives(const Tensor& labels, const Tensor& predictions, const Options& options) {
  return CountOf(false, false, "true_negatives", labels, predictions, options);
}
Metric FalseNegatives(const Tensor& labels, const Tensor& predictions, const Options& options) {
  return CountOf(true, false, "false_negatives", labels, predictions, options);
}

Metric Precision(const Tensor& labels, const Tensor& predictions, const Options& options) {
  return Share(false, true, "false_positives", "precision", labels, predictions, options);
}
Metric Recall(const Tensor& labels, const Tensor& predictions, const Options& options) {
  return Share(true, false, "false_negatives", "recall", labels, predictions, options);
}

Metric ConfusionMatrix(const Tensor& labels, const Tensor& predictions, int64_t num_classes,
                       const Options& options) {
  const MetricScope scope(options.name, "confusion_matrix");
  return Confusions(labels, predictions, num_classes, options, "confusion_matrix");
}

Metric MeanIou(const Tensor& labels, const Tensor& predictions, int64_t num_classes,
               const Options& options) {
  const MetricScope scope(options.name, "mean_iou");
  Metric metric = Confusions(labels, predictions, num_classes, options, "mean_iou");
  if (!metric.value.valid()) return metric;
  const Tensor matrix = metric.value;
  const Tensor diagonal =
      ReduceSum(matrix * OneHot(Range(num_classes), num_classes, {.dtype = DType::kFloat64}), 0);
  const Tensor either = ReduceSum(matrix, 0) + ReduceSum(matrix, 1) - diagonal;
  const Tensor seen = ReduceSum(Cast(Greater(either, 0.0), DType::kFloat64));
  metric.value = DivideNoNan(ReduceSum(DivideNoNan(diagonal, either)), seen, "value");
  return metric;
}

Metric CohenKappa(const Tensor& labels, const Tensor& predictions, int64_t num_classes,
                  const CohenKappaOptions& options) {
  const MetricScope scope(options.name, "cohen_kappa");
  Metric metric =
      Confusions(labels, predictions, num_classes, {.weights = options.weights}, "cohen_kappa");
  if (!metric.value.valid()) return metric;
  const Tensor matrix = metric.value;
  const Tensor by_label = ReduceSum(matrix, 1, {.keepdims = true});       // [C, 1]
  const Tensor by_prediction = ReduceSum(matrix, 0, {.keepdims = true});  // [1, C]
  const Tensor by_chance = DivideNoNan(by_label * by_prediction, ReduceSum(matrix));
  const Tensor disagreement = Disagreement(num_classes, options.weighting);
  // Without examples, and if chance alone has no disagreement, observed is 0 as well.
  const Tensor observed = ReduceSum(disagreement * matrix);
  const Tensor expected = ReduceSum(disagreement * by_chance);
  metric.value = Subtract(1.0, DivideNoNan(observed, expected), "value");
  return metric;
}

}  // namespace estimator::metrics
