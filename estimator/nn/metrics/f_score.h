// The F score: the harmonic mean of precision and recall.
#ifndef ESTIMATOR_NN_METRICS_F_SCORE_H_
#define ESTIMATOR_NN_METRICS_F_SCORE_H_

#include <optional>
#include <string>

#include "estimator/graph/tensor.h"
#include "estimator/nn/metrics/metric.h"

namespace estimator::metrics {

// How the scores of several classes become one value.
enum class Average {
  kNone,      // they do not: the value is [C], which early stopping and exporters cannot compare
  kMicro,     // the score of the outcomes of all classes together
  kMacro,     // the mean of the scores
  kWeighted,  // the mean, weighted by the number of positive labels of each class
};

struct FBetaScoreOptions {
  std::optional<Operand> weights = std::nullopt;  // a number, [N] or [N, 1]
  std::string name = "";                          // none: f1_score or fbeta_score
  Average average = Average::kNone;
  double beta = 1;  // recall counts beta times as much as precision; > 0
  // An element is positive if prediction > threshold. None: if it is the largest of its row and not
  // 0; several may be the largest.
  std::optional<double> threshold = std::nullopt;
};

// (1 + beta^2) * precision * recall / (beta^2 * precision + recall), and 0 without true positives.
//   labels: 0 or 1, [N, C], or [N] for one class.  predictions: of the labels' shape.
//   Variables: `true_positives`, `false_positives`, `false_negatives` and `intermediate_weights`,
//     [C], or [] for kMicro.
// Errors (kept by the graph): INVALID_ARGUMENT naming both types if shapes differ or are not of
// rank 1 or 2; for beta <= 0; for one class without a threshold, where every example is positive.
// Source: TF 2.15 tf.keras.metrics.FBetaScore, F1Score.
Metric FBetaScore(const Tensor& labels, const Tensor& predictions,
                  const FBetaScoreOptions& options = {});
// FBetaScore with beta = 1, in the scope `f1_score`. options.beta does not apply.
Metric F1Score(const Tensor& labels, const Tensor& predictions,
               const FBetaScoreOptions& options = {});

}  // namespace estimator::metrics

#endif  // ESTIMATOR_NN_METRICS_F_SCORE_H_
