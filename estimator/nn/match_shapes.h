// Brings labels, predictions and weights to one shape, as tf.losses and tf.metrics do. Not for
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

// Returns both with one shape; dtypes do not change. If only one of them has a last axis of size 1,
// that axis is dropped. `who` begins the error message.
// Errors (kept by the graph, and both results are invalid): INVALID_ARGUMENT, for example
// "mean_squared_error: labels are f32 [8,2], predictions f32 [8]; their shapes must be equal".
// Source: TF 2.15 confusion_matrix.remove_squeezable_dimensions.
LabelsAndPredictions MatchShapes(const Tensor& labels, const Tensor& predictions,
                                 absl::string_view who);

// Returns the weights in the values' dtype, as a scalar or with the rank of the values. In the
// second case each size is 1 or equal to that of the values. A last axis of size 1 is dropped or
// added if that fits.
// Errors (kept by the graph, and the result is invalid): INVALID_ARGUMENT naming both types.
// Source: TF 2.15 weights_broadcast_ops.
Tensor MatchWeights(const Operand& weights, const Tensor& values, absl::string_view who);

}  // namespace estimator

#endif  // ESTIMATOR_NN_MATCH_SHAPES_H_
