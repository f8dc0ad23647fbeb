#include "estimator/nn/metrics/correlation.h"

#include "estimator/graph/graph.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"

namespace estimator::metrics {

Metric PearsonCorrelation(const Tensor& labels, const Tensor& predictions, const Options& options) {
  constexpr char kName[] = "pearson_correlation";
  const MetricScope scope(options.name, kName);
  const LabelsAndPredictions pair = MatchShapes(labels, predictions, kName);
  if (!pair.labels.valid()) return InvalidMetric(pair.labels);
  const Variable count = MetricScope::Sum("count"), mean_l = MetricScope::Sum("mean_label"),
                 mean_p = MetricScope::Sum("mean_prediction"), m2_l = MetricScope::Sum("m2_label"),
                 m2_p = MetricScope::Sum("m2_prediction"), comoment = MetricScope::Sum("comoment");
  const Tensor weights = FullWeights(options.weights, pair.labels, kName);
  if (!weights.valid()) return InvalidMetric(weights);

  // The moments of the batch are merged with those of the batches before (Chan et al., 1979).
  const Tensor l = Cast(pair.labels, DType::kFloat64), p = Cast(pair.predictions, DType::kFloat64);
  const Tensor batch = ReduceSum(weights);
  const Tensor total = count + batch;
  const auto mean = [&](const Tensor& x) { return DivideNoNan(ReduceSum(weights * x), batch); };
  const Tensor batch_l = mean(l), batch_p = mean(p);
  const Tensor dl = l - batch_l, dp = p - batch_p;                      // within the batch
  const Tensor shift_l = batch_l - mean_l, shift_p = batch_p - mean_p;  // between the means
  const Tensor part = DivideNoNan(batch, total);
  const Tensor between = count * part;
  const Operation update =
      Group({AssignAdd(count, batch), AssignAdd(mean_l, shift_l * part),
             AssignAdd(mean_p, shift_p * part),
             AssignAdd(m2_l, ReduceSum(weights * dl * dl) + shift_l * shift_l * between),
             AssignAdd(m2_p, ReduceSum(weights * dp * dp) + shift_p * shift_p * between),
             AssignAdd(comoment, ReduceSum(weights * dl * dp) + shift_l * shift_p * between)},
            "update_op");
  return {DivideNoNan(comoment, Sqrt(m2_l) * Sqrt(m2_p), "value"), update};
}

}  // namespace estimator::metrics
