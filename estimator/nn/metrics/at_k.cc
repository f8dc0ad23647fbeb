#include "estimator/nn/metrics/at_k.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/search.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::metrics {
namespace {

// Returns hits / (hits + misses). Each row adds up to its number of labels (recall) or to k
// (precision).
Metric AtK(const Tensor& labels, const Tensor& predictions, int64_t k, const Options& options,
           bool recall) {
  const std::string name = absl::StrCat(recall ? "recall" : "precision", "_at_", k);
  const MetricScope scope(options.name, name);
  Graph& graph = GraphFor({predictions, labels});
  const bool fits = labels.valid() && predictions.valid() && predictions.rank() == 2 &&
                    (labels.rank() == 1 || labels.rank() == 2) &&
                    labels.dim(0) == predictions.dim(0) && k >= 1 && k <= predictions.dim(1);
  if (!fits) {
    return InvalidMetric(graph.Fail(
        InvalidArgument(name, ": labels are ", labels.spec().ToString(), ", predictions ",
                        predictions.spec().ToString(),
                        "; labels must be [N] or [N,L], and predictions [N,C] with C >= ", k)));
  }
  const Variable hits = MetricScope::Sum(absl::StrCat("true_positive_at_", k));
  const Variable misses =
      MetricScope::Sum(absl::StrCat(recall ? "false_negative_at_" : "false_positive_at_", k));
  const int64_t rows = labels.dim(0), per_row = labels.rank() == 2 ? labels.dim(1) : 1;
  const Tensor best = Cast(TopK(predictions, k).indices, labels.dtype());  // [N, k]
  const Tensor found =
      Equal(Reshape(best, Shape{rows, k, 1}), Reshape(labels, Shape{rows, 1, per_row}));
  const Tensor row_hits = ReduceSum(Cast(ReduceAny(found, 2), DType::kFloat64), 1);  // [N]
  const Tensor weights = FullWeights(options.weights, row_hits, name);
  if (!weights.valid()) return InvalidMetric(weights);
  const Tensor batch_hits = ReduceSum(row_hits * weights);
  const Tensor batch_total = ReduceSum(weights) * static_cast<double>(recall ? per_row : k);
  return {DivideNoNan(hits, hits.read() + misses.read(), "value"),
          Group({AssignAdd(hits, batch_hits), AssignAdd(misses, batch_total - batch_hits)},
                "update_op")};
}

}  // namespace

Metric RecallAtK(const Tensor& labels, const Tensor& predictions, int64_t k,
                 const Options& options) {
  return AtK(labels, predictions, k, options, /*recall=*/true);
}

Metric PrecisionAtK(const Tensor& labels, const Tensor& predictions, int64_t k,
                    const Options& options) {
  return AtK(labels, predictions, k, options, /*recall=*/false);
}

}  // namespace estimator::metrics
