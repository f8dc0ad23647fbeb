// Labels, predictions and weights brought to one shape, as tf.losses and tf.metrics do. Not for
// users.
#ifndef ESTIMATOR_NN_MATCH_SHAPES_H_
#define ESTIMATOR_NN_MATCH_SHAPES_H_

#include "absl/strings/string_view.h"
#include "estimator/graph/tensor.h"
#include "estimator/ops/operand.h"

namespace estimator {

struct LabelsAndPredictions {
  Tensor labels;
  Tensor predictions;
};

// Both with one shape, dtypes as they were: an axis of size 1 that one has at the end and the other
// lacks is dropped. Both are invalid after an error, which names the two:
// "mean_squared_error: labels are f32 [8,2], predictions f32 [8]; their shapes must be equal".
// Source: TF 2.15 confusion_matrix.remove_squeezable_dimensions.
LabelsAndPredictions MatchShapes(const Tensor& labels, const Tensor& predictions,
                                 absl::string_view who);

// The weights in the values' dtype: a scalar, or of the values' rank with sizes that are 1 or
// equal. An axis of size 1 is dropped or added at the end. Errors: INVALID_ARGUMENT naming both
// types; returns an invalid tensor. Source: TF 2.15 weights_broadcast_ops.
Tensor MatchWeights(const Operand& weights, const Tensor& values, absl::string_view who);

}  // namespace estimator

#endif  // ESTIMATOR_NN_MATCH_SHAPES_H_
