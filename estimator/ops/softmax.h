// Softmax, its logarithm, and cross entropies.
#ifndef ESTIMATOR_OPS_SOFTMAX_H_
#define ESTIMATOR_OPS_SOFTMAX_H_

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// exp(x) / sum(exp(x)) along `axis`, and its logarithm. The maximum is subtracted first, so that
// exp does not overflow.
//   logits: floating, rank 1 or more.  Returns the type of logits.
// Source: TF 2.15 tf.nn.softmax, tf.nn.log_softmax.
Tensor Softmax(const Tensor& logits, int axis = -1, StringArg name = "Softmax");
Tensor LogSoftmax(const Tensor& logits, int axis = -1, StringArg name = "LogSoftmax");

// -sum(labels * LogSoftmax(logits)) along `axis`.
//   labels, logits: [..., C] of one floating dtype. Each row of labels should sum to 1, because the
//   gradient is softmax - labels.  Returns [...], the loss of each row.
// Gradients flow to labels, too; apply StopGradient to labels that are not trained.
// Source: TF 2.15 tf.nn.softmax_cross_entropy_with_logits.
Tensor SoftmaxCrossEntropyWithLogits(const Tensor& labels, const Tensor& logits, int axis = -1,
                                     StringArg name = "softmax_cross_entropy_with_logits");

// -LogSoftmax(logits)[label] for each row.
//   labels: i32 or i64 [...], in [0, C).  logits: [..., C].  Returns [...] with the dtype of
//   logits.
// Errors: INVALID_ARGUMENT if the shape of labels is not that of logits without its last axis. The
// step fails if a label is out of range, naming its row.
// Source: TF 2.15 tf.nn.sparse_softmax_cross_entropy_with_logits.
Tensor SparseSoftmaxCrossEntropyWithLogits(const Tensor& labels, const Tensor& logits,
                                           StringArg name = "SparseSoftmaxCrossEntropyWithLogits");

// For each element: max(x, 0) - x * z + log(1 + exp(-|x|)).
//   labels (z), logits (x): one floating type, which the result has too.
// Source: TF 2.15 tf.nn.sigmoid_cross_entropy_with_logits.
Tensor SigmoidCrossEntropyWithLogits(const Tensor& labels, const Tensor& logits,
                                     StringArg name = "logistic_loss");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_SOFTMAX_H_
