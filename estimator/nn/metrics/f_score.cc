#include "estimator/nn/metrics/f_score.h"

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::metrics {
namespace {

constexpr double kZeroScore = 1e-9;  // a row of zeros has no largest element: Keras' constant

// Which elements [N, C] are positive.
Tensor PositivePredictions(const Tensor& scores, const std::optional<double>& threshold) {
  if (threshold.has_value()) return Greater(scores, *threshold);
  const Tensor largest = ReduceMax(scores, -1, {.keepdims = true});
  return LogicalAnd(GreaterEqual(scores, largest), Greater(Abs(scores), kZeroScore));
}

Metric FScore(const char* name, const Tensor& labels, const Tensor& predictions,
              const FBetaScoreOptions& options) {
  const MetricScope scope(options.name, name);
  const LabelsAndPredictions pair = MatchShapes(labels, predictions, name);
  if (!pair.labels.valid()) return InvalidMetric(pair.labels);
  const auto fail = [&](const char* what) {
    return InvalidMetric(pair.labels.graph()->Fail(InvalidArgument(
        name, ": ", what, "; labels are ", labels.spec().ToString(), ", predictions ",
        predictions.spec().ToString(), ", beta is ", options.beta)));
  };
  if (pair.labels.rank() != 1 && pair.labels.rank() != 2) return fail("they must be [N,C] or [N]");
  if (!(options.beta > 0)) return fail("beta must be positive");
  const int64_t classes = pair.labels.rank() == 2 ? pair.labels.dim(1) : 1;
  if (classes == 1 && !options.threshold.has_value())
    return fail("one class needs a threshold, such as 0.5");

  const bool micro = options.average == Average::kMicro;
  const auto sum = [&](const char* what) {
    return MetricScope::Sum(what, micro ? Shape{} : Shape{classes});
  };
  const Variable true_positives = sum("true_positives"), false_positives = sum("false_positives"),
                 false_negatives = sum("false_negatives"),
                 label_weights = sum("intermediate_weights");
  const Shape rows{-1, classes};
  const Tensor weights = FullWeights(options.weights, pair.labels, name);
  if (!weights.valid()) return InvalidMetric(weights);
  const bool floating = IsFloating(pair.predictions.dtype());
  const Tensor scores =
      Reshape(floating ? pair.predictions : Cast(pair.predictions, DType::kFloat32), rows);
  const Tensor predicted = Cast(PositivePredictions(scores, options.threshold), DType::kFloat64);
  const Tensor actual = Reshape(Cast(pair.labels, DType::kFloat64), rows);
  const auto add = [&](const Variable& total, const Tensor& outcomes) {
    const Tensor weighted = outcomes * Reshape(weights, rows);
    return AssignAdd(total, micro ? ReduceSum(weighted) : ReduceSum(weighted, 0));
  };
  const Operation update = Group(
      {add(true_positives, predicted * actual), add(false_positives, predicted * (1 - actual)),
       add(false_negatives, (1 - predicted) * actual), add(label_weights, actual)},
      "update_op");

  const double beta2 = options.beta * options.beta;
  const Tensor hits = true_positives.read();
  const Tensor precision = DivideNoNan(hits, hits + false_positives);
  const Tensor recall = DivideNoNan(hits, hits + false_negatives);
  const Tensor score = DivideNoNan(precision * recall, precision * beta2 + recall) * (1 + beta2);
  switch (options.average) {
    case Average::kNone:
      return {Identity(score, "value"), update};
    case Average::kMicro:
    case Average::kMacro:
      return {ReduceMean(score, ReduceAxes::All(), {.name = "value"}), update};
    case Average::kWeighted:
      break;
  }
  const Tensor shares = DivideNoNan(label_weights, ReduceSum(label_weights));
  return {ReduceSum(score * shares, ReduceAxes::All(), {.name = "value"}), update};
}

}  // namespace

Metric FBetaScore(const Tensor& labels, const Tensor& predictions,
                  const FBetaScoreOptions& options) {
  return FScore("fbeta_score", labels, predictions, options);
}

Metric F1Score(const Tensor& labels, const Tensor& predictions, const FBetaScoreOptions& options) {
  FBetaScoreOptions f1 = options;
  f1.beta = 1;
  return FScore("f1_score", labels, predictions, f1);
}

}  // namespace estimator::metrics
