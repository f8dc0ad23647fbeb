// Softmax, its logarithm, and the cross entropies.
#ifndef ESTIMATOR_OPS_SOFTMAX_H_
#define ESTIMATOR_OPS_SOFTMAX_H_

#include "absl/strings/string_view.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// exp(x) / sum(exp(x)) along `axis`, and its logarithm, shifted by the maximum.
//   logits: floating, rank 1 or more.  Returns its type.
// Source: TF 2.15 tf.nn.softmax, tf.nn.log_softmax.
Tensor Softmax(const Tensor& logits, int axis = -1, absl::string_view name = "Softmax");
Tensor LogSoftmax(const Tensor& logits, int axis = -1, absl::string_view name = "LogSoftmax");

// -sum(labels * LogSoftmax(logits)) along `axis`.
//   labels, logits: [..., C] of one floating type; each row of labels should sum to 1 (the gradient
//   is softmax - labels).  Returns [...]: the loss of every row.
// Gradients flow to labels, too; StopGradient them if they are not to be trained.
// Source: TF 2.15 tf.nn.softmax_cross_entropy_with_logits.
Tensor SoftmaxCrossEntropyWithLogits(const Tensor& labels, const Tensor& logits, int axis = -1,
                                     absl::string_view name = "softmax_cross_entropy_with_logits");

// -LogSoftmax(logits)[label] of every row.
//   labels: i32 or i64 [...], in [0, C).  logits: [..., C].  Returns logits' type [...].
// Errors: INVALID_ARGUMENT if labels has not logits' shape without its last axis; at run time, if a
// label is out of range, naming its row.
// Source: TF 2.15 tf.nn.sparse_softmax_cross_entropy_with_logits.
Tensor SparseSoftmaxCrossEntropyWithLogits(
    const Tensor& labels, const Tensor& logits,
    absl::string_view name = "SparseSoftmaxCrossEntropyWithLogits");

// Each element by itself: max(x, 0) - x * z + log(1 + exp(-|x|)).
//   labels (z), logits (x): one floating type.  Returns it.
// Source: TF 2.15 tf.nn.sigmoid_cross_entropy_with_logits.
Tensor SigmoidCrossEntropyWithLogits(const Tensor& labels, const Tensor& logits,
                                     absl::string_view name = "logistic_loss");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_SOFTMAX_H_
