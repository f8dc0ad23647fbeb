// The common part of losses: shapes, weights and reductions. Not for users.
#ifndef ESTIMATOR_NN_LOSSES_WEIGHTED_LOSS_H_
#define ESTIMATOR_NN_LOSSES_WEIGHTED_LOSS_H_

#include "absl/strings/string_view.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/tensor.h"
#include "estimator/nn/losses/compute_weighted_loss.h"
#include "estimator/nn/match_shapes.h"
#include "estimator/ops/math_unary.h"

namespace estimator::losses {

// Returns labels * (1 - smoothing) + smoothing * uniform. The result is invalid after an error.
Tensor SmoothLabels(const Tensor& labels, double smoothing, double uniform, absl::string_view loss);

// The loss of losses_of(labels, predictions), which get one shape and the dtype of the predictions.
// It returns a loss for each element, or for each row.
//   Specific: Options, or a struct that has its fields.
template <typename Specific, typename Fn>
Tensor WeightedLoss(const char* name, const Tensor& labels, const Tensor& predictions,
                    const Specific& options, const Fn& losses_of) {
  const NameScope scope(name, GraphFor({predictions, labels}));
  const LabelsAndPredictions pair = MatchShapes(labels, predictions, name);
  if (!pair.labels.valid()) return pair.labels;
  return ComputeWeightedLoss(
      losses_of(Cast(pair.labels, pair.predictions.dtype()), pair.predictions),
      {.weights = options.weights,
       .reduction = options.reduction,
       .add_to_collection = options.add_to_collection});
}

}  // namespace estimator::losses

#endif  // ESTIMATOR_NN_LOSSES_WEIGHTED_LOSS_H_
