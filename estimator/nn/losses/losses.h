// The losses of tf.compat.v1.losses. Each returns a scalar in the dtype of its logits or
// predictions, and adds it to graph.losses(). With Reduction::kNone the result is not reduced.
// Errors (kept by the graph): INVALID_ARGUMENT naming both shapes if labels and predictions differ.
#ifndef ESTIMATOR_NN_LOSSES_LOSSES_H_
#define ESTIMATOR_NN_LOSSES_LOSSES_H_

#include <optional>

#include "estimator/graph/tensor.h"
#include "estimator/nn/losses/compute_weighted_loss.h"

namespace estimator::losses {

// Softmax cross entropy with labels that are class numbers.
//   labels: i32 or i64 [N] or [N, 1], in [0, C).  logits: [N, C]. More leading axes are allowed.
//   l[n] = log(sum_c exp(logits[n,c])) - logits[n,labels[n]], max-shifted.
// Errors of the step: a label outside [0, C), naming the label and its row.
// Source: TF 2.15 tf.compat.v1.losses.sparse_softmax_cross_entropy.
Tensor SparseSoftmaxCrossEntropy(const Tensor& labels, const Tensor& logits,
                                 const Options& options = {});

struct SmoothingOptions {
  std::optional<Operand> weights = std::nullopt;
  Reduction reduction = Reduction::kSumByNonzeroWeights;
  bool add_to_collection = true;
  double label_smoothing = 0;  // in [0, 1)
};
// Softmax cross entropy with labels that are distributions over the classes.
//   onehot_labels, logits: [..., C].
//   l = -sum_c labels'[c] * log(softmax(logits)[c]), with labels' = labels * (1 - s) + s / C, where
//   s is label_smoothing. No gradient flows to the labels.
// Source: TF 2.15 tf.compat.v1.losses.softmax_cross_entropy.
Tensor SoftmaxCrossEntropy(const Tensor& onehot_labels, const Tensor& logits,
                           const SmoothingOptions& options = {});
// Cross entropy of independent binary classes.
//   multi_class_labels, logits: [...], labels in [0, 1].
//   l = -labels' * log(p) - (1 - labels') * log(1 - p), with p = sigmoid(logits) and
//   labels' = labels * (1 - s) + s / 2, where s is label_smoothing.
// Source: TF 2.15 tf.compat.v1.losses.sigmoid_cross_entropy.
Tensor SigmoidCrossEntropy(const Tensor& multi_class_labels, const Tensor& logits,
                           const SmoothingOptions& options = {});

// In the formulas below, p is a prediction and l is its label. Shapes are equal; any rank.
//
// (p - l)^2
Tensor MeanSquaredError(const Tensor& labels, const Tensor& predictions,
                        const Options& options = {});
// |p - l|
Tensor AbsoluteDifference(const Tensor& labels, const Tensor& predictions,
                          const Options& options = {});
// max(0, 1 - (2 * l - 1) * logits), l in {0, 1}
Tensor HingeLoss(const Tensor& labels, const Tensor& logits, const Options& options = {});

struct HuberOptions {
  std::optional<Operand> weights = std::nullopt;
  Reduction reduction = Reduction::kSumByNonzeroWeights;
  bool add_to_collection = true;
  double delta = 1;
};
// (p - l)^2 / 2                        if |p - l| <= delta
// delta * |p - l| - delta^2 / 2        otherwise
Tensor HuberLoss(const Tensor& labels, const Tensor& predictions, const HuberOptions& options = {});

struct LogLossOptions {
  std::optional<Operand> weights = std::nullopt;
  Reduction reduction = Reduction::kSumByNonzeroWeights;
  bool add_to_collection = true;
  double epsilon = 1e-7;
};
// -l * log(p + epsilon) - (1 - l) * log(1 - p + epsilon)
Tensor LogLoss(const Tensor& labels, const Tensor& predictions, const LogLossOptions& options = {});

// 1 - sum(p * l) over `axis`. The vectors must have length 1 already. With Reduction::kNone the
// result keeps the axis, with size 1.
Tensor CosineDistance(const Tensor& labels, const Tensor& predictions, int axis,
                      const Options& options = {});

}  // namespace estimator::losses

#endif  // ESTIMATOR_NN_LOSSES_LOSSES_H_
