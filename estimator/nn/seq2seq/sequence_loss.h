// The cross entropy of sequences of logits, weighted by time step.
#ifndef ESTIMATOR_NN_SEQ2SEQ_SEQUENCE_LOSS_H_
#define ESTIMATOR_NN_SEQ2SEQ_SEQUENCE_LOSS_H_

#include <functional>

#include "estimator/graph/tensor.h"

namespace estimator::seq2seq {

struct SequenceLossOptions {
  // An average divides by the sum of the weights. A sum divides by the number of weights that are
  // not 0. For each axis at most one may be set; without both, the axis stays in the result.
  bool average_across_timesteps = true;
  bool average_across_batch = true;
  bool sum_over_timesteps = false;
  bool sum_over_batch = false;
  // From labels [N*T] and logits [N*T, C] to losses [N*T].
  // None: SparseSoftmaxCrossEntropyWithLogits.
  std::function<Tensor(const Tensor& labels, const Tensor& logits)> softmax_loss_function = nullptr;
};

// The weighted cross entropy of targets and logits, reduced as the options say. A result whose
// divisor is 0 is 0.
//   logits: [N, T, C], floating.  targets: i32 or i64 [N, T].
//   weights: [N, T], of the dtype of logits: 1 where a time step counts, and 0 for padding.
//   Returns a scalar; [T] if only the batch is reduced, [N] if only the time steps are, or [N, T].
// The loss is not added to graph.losses().
// Errors (kept by the graph): INVALID_ARGUMENT naming the shapes that do not fit, or the options
// that exclude each other.
// Source: TF 1.15 tf.contrib.seq2seq.sequence_loss; divisors as in tensorflow_addons 0.23.
Tensor SequenceLoss(const Tensor& logits, const Tensor& targets, const Tensor& weights,
                    const SequenceLossOptions& options = {});

}  // namespace estimator::seq2seq

#endif  // ESTIMATOR_NN_SEQ2SEQ_SEQUENCE_LOSS_H_
