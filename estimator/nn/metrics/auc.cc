#include "estimator/nn/metrics/auc.h"

#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/check_range.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/slicing.h"

namespace estimator::metrics {
namespace {

constexpr double kEpsilon = 1e-6;  // added to the rates' divisors, as in TensorFlow

// The first threshold is just below 0 and the last just above 1. Predictions are compared with them
// in f32, as in TensorFlow.
std::vector<float> Thresholds(int64_t count) {
  constexpr double kBeyond = 1e-7;
  std::vector<float> thresholds = {static_cast<float>(0.0 - kBeyond)};
  for (int64_t i = 0; i + 2 < count; ++i) {
    thresholds.push_back(
        static_cast<float>(static_cast<double>(i + 1) / static_cast<double>(count - 1)));
  }
  thresholds.push_back(static_cast<float>(1.0 + kBeyond));
  return thresholds;
}

}  // namespace

Metric Auc(const Tensor& labels, const Tensor& predictions, const AucOptions& options) {
  const MetricScope scope(options.name, "auc");
  const LabelsAndPredictions pair = MatchShapes(labels, predictions, "auc");
  if (!pair.labels.valid()) return InvalidMetric(pair.labels);
  const int64_t n = options.num_thresholds;
  if (n < 2) {
    return InvalidMetric(pair.labels.graph()->Fail(
        InvalidArgument("auc: num_thresholds must be 2 or more, got ", n)));
  }
  const Variable true_positives = MetricScope::Sum("true_positives", {n});
  const Variable false_negatives = MetricScope::Sum("false_negatives", {n});
  const Variable true_negatives = MetricScope::Sum("true_negatives", {n});
  const Variable false_positives = MetricScope::Sum("false_positives", {n});
  const Tensor weights = FullWeights(options.weights, pair.labels, "auc");
  if (!weights.valid()) return InvalidMetric(weights);

  const Shape row{1, -1}, column{n, 1};
  const Tensor positive_weights =
      Reshape(Cast(Cast(pair.labels, DType::kBool), DType::kFloat64) * weights, row);
  const Tensor negative_weights = Reshape(weights, row) - positive_weights;
  const Tensor probabilities =
      CheckRange(Cast(pair.predictions, DType::kFloat32),
                 {.what = "auc: predictions",
                  .cure = "pass probabilities: for logits, Sigmoid(logits) or a column of "
                          "Softmax(logits); for rounding errors, ClipByValue(predictions, 0, 1)"});
  const Tensor above =
      Cast(Greater(Reshape(probabilities, row), Reshape(Constant(Thresholds(n)), column)),
           DType::kFloat64);  // [thresholds, N]
  const Tensor below = 1 - above;
  const Operation update =
      Group({AssignAdd(true_positives, ReduceSum(above * positive_weights, 1)),
             AssignAdd(false_positives, ReduceSum(above * negative_weights, 1)),
             AssignAdd(false_negatives, ReduceSum(below * positive_weights, 1)),
             AssignAdd(true_negatives, ReduceSum(below * negative_weights, 1))},
            "update_op");

  const Tensor recall = (true_positives + kEpsilon) / (true_positives + false_negatives + kEpsilon);
  const Tensor false_rate = false_positives / (false_positives + true_negatives + kEpsilon);
  const auto from = [n](const Tensor& x, int64_t begin) { return Slice(x, {begin}, {n - 1}); };
  const Tensor widths = from(false_rate, 0) - from(false_rate, 1);
  const Tensor heights = (from(recall, 0) + from(recall, 1)) * 0.5;
  return {ReduceSum(widths * heights, ReduceAxes::All(), {.name = "value"}), update};
}

}  // namespace estimator::metrics
