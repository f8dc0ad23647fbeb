#include "estimator/nn/metrics/auc.h"

#include <functional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/check_range.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/select.h"
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

// The sums of all outcomes at each threshold: f64 [T], or [T, L] with multi_label.
struct AucSums {
  Variable true_positives, false_negatives, true_negatives, false_positives;
  Operation update;
};

// Recall over the false positive rate, by trapezoids. Returns the areas of the strips.
Tensor RocStrips(const AucSums& sums, bool keras, const std::function<Tensor(const Tensor&)>& left,
                 const std::function<Tensor(const Tensor&)>& right) {
  const Tensor positives = sums.true_positives + sums.false_negatives;
  const Tensor negatives = sums.false_positives + sums.true_negatives;
  const Tensor recall = keras ? DivideNoNan(sums.true_positives, positives)
                              : (sums.true_positives + kEpsilon) / (positives + kEpsilon);
  const Tensor false_rate = keras ? DivideNoNan(sums.false_positives, negatives)
                                  : sums.false_positives / (negatives + kEpsilon);
  const Tensor widths = left(false_rate) - right(false_rate);
  const Tensor heights = (left(recall) + right(recall)) * 0.5;
  return widths * heights;
}

// Precision over recall. Between two thresholds, true positives are linear in predicted positives.
Tensor PrStrips(const AucSums& sums, const std::function<Tensor(const Tensor&)>& left,
                const std::function<Tensor(const Tensor&)>& right) {
  const Tensor hits = sums.true_positives.read();
  const Tensor predicted = hits + sums.false_positives;
  const Tensor slope =
      DivideNoNan(left(hits) - right(hits), Maximum(left(predicted) - right(predicted), 0.0));
  const Tensor intercept = right(hits) - slope * right(predicted);
  const Tensor both = LogicalAnd(Greater(left(predicted), 0.0), Greater(right(predicted), 0.0));
  const Tensor ratio = Where(both, DivideNoNan(left(predicted), right(predicted)), 1.0);
  return DivideNoNan(slope * (left(hits) - right(hits) + intercept * Log(ratio)),
                     right(hits + sums.false_negatives));
}

// The area, or with multi_label those of all labels [L]. Neither result is valid after an error.
Metric AucAreas(const Tensor& labels, const Tensor& predictions, const AucOptions& options) {
  const LabelsAndPredictions pair = MatchShapes(labels, predictions, "auc");
  if (!pair.labels.valid()) return InvalidMetric(pair.labels);
  const int64_t n = options.num_thresholds;
  if (n < 2) {
    return InvalidMetric(pair.labels.graph()->Fail(
        InvalidArgument("auc: num_thresholds must be 2 or more, got ", n)));
  }
  const bool multi = options.multi_label;
  if (multi && pair.labels.rank() != 2) {
    return InvalidMetric(pair.labels.graph()->Fail(InvalidArgument(
        "auc: with multi_label, labels and predictions must be [N,L], got labels ",
        labels.spec().ToString(), " and predictions ", predictions.spec().ToString())));
  }
  const int64_t num_labels = multi ? pair.labels.dim(1) : 1;
  const auto sum = [&](const char* name) {
    return MetricScope::Sum(name, multi ? Shape{n, num_labels} : Shape{n});
  };
  AucSums sums{.true_positives = sum("true_positives"),
               .false_negatives = sum("false_negatives"),
               .true_negatives = sum("true_negatives"),
               .false_positives = sum("false_positives"),
               .update = {}};
  const Tensor weights = FullWeights(options.weights, pair.labels, "auc");
  if (!weights.valid()) return InvalidMetric(weights);

  const Shape row = multi ? Shape{1, -1, num_labels} : Shape{1, -1};
  const Shape column = multi ? Shape{n, 1, 1} : Shape{n, 1};
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
           DType::kFloat64);  // [thresholds, N] or [thresholds, N, L]
  const Tensor below = 1 - above;
  sums.update = Group({AssignAdd(sums.true_positives, ReduceSum(above * positive_weights, 1)),
                       AssignAdd(sums.false_positives, ReduceSum(above * negative_weights, 1)),
                       AssignAdd(sums.false_negatives, ReduceSum(below * positive_weights, 1)),
                       AssignAdd(sums.true_negatives, ReduceSum(below * negative_weights, 1))},
                      "update_op");

  const auto from = [&](const Tensor& x, int64_t begin) {
    return multi ? Slice(x, {begin, 0}, {n - 1, num_labels}) : Slice(x, {begin}, {n - 1});
  };
  const auto left = [&](const Tensor& x) { return from(x, 0); };
  const auto right = [&](const Tensor& x) { return from(x, 1); };
  const Tensor strips = options.curve == Curve::kPr ? PrStrips(sums, left, right)
                                                    : RocStrips(sums, multi, left, right);
  return {multi ? ReduceSum(strips, 0, {.name = "by_label"})
                : ReduceSum(strips, ReduceAxes::All(), {.name = "value"}),
          sums.update};
}

}  // namespace

Metric Auc(const Tensor& labels, const Tensor& predictions, const AucOptions& options) {
  const MetricScope scope(options.name, "auc");
  Metric auc = AucAreas(labels, predictions, options);
  if (options.multi_label && auc.value.valid())
    auc.value = ReduceMean(auc.value, ReduceAxes::All(), {.name = "value"});
  return auc;
}

MetricMap AucByLabel(const Tensor& labels, const Tensor& predictions,
                     const std::vector<std::string>& label_names, const AucOptions& options) {
  const std::string name = options.name.empty() ? "auc" : options.name;
  const MetricScope scope(options.name, "auc");
  AucOptions by_label = options;
  by_label.multi_label = true;
  const Metric areas = AucAreas(labels, predictions, by_label);
  if (!areas.value.valid()) return {{name, areas}};
  const int64_t num_labels = areas.value.dim(0);
  const std::set<std::string> different(label_names.begin(), label_names.end());
  if (static_cast<int64_t>(label_names.size()) != num_labels ||
      different.size() != label_names.size()) {
    return {{name, InvalidMetric(areas.value.graph()->Fail(InvalidArgument(
                       "auc: there must be a name for each of the ", num_labels,
                       " labels, and no name twice, got ", absl::StrJoin(label_names, ", "))))}};
  }
  MetricMap metrics = {
      {name, {ReduceMean(areas.value, ReduceAxes::All(), {.name = "value"}), areas.update}}};
  for (size_t i = 0; i < label_names.size(); ++i) {
    const Tensor area = Slice(areas.value, {static_cast<int64_t>(i)}, {1});
    metrics[absl::StrCat(name, "/", label_names[i])] = {Reshape(area, Shape{}), areas.update};
  }
  return metrics;
}

}  // namespace estimator::metrics
