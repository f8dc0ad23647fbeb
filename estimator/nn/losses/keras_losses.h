// Losses that Keras has and tf.compat.v1.losses has not, with Keras' defaults, and the Dice loss.
// As the losses of losses.h, each returns a scalar in the dtype of its predictions and adds it to
// graph.losses(). docs/porting.md has a table of all losses of Keras.
//
// In the formulas, p is a prediction and l is its label. Without weights, the mean over elements is
// that of Keras. With weights, Keras divides by the number of elements: kSumOverBatchSize.
// Errors (kept by the graph): INVALID_ARGUMENT naming both shapes if labels and predictions differ.
#ifndef ESTIMATOR_NN_LOSSES_KERAS_LOSSES_H_
#define ESTIMATOR_NN_LOSSES_KERAS_LOSSES_H_

#include <optional>

#include "estimator/graph/tensor.h"
#include "estimator/nn/losses/compute_weighted_loss.h"

namespace estimator::losses {

struct BinaryFocalOptions {
  std::optional<Operand> weights = std::nullopt;
  Reduction reduction = Reduction::kSumByNonzeroWeights;
  bool add_to_collection = true;
  bool apply_class_balancing =
      false;  // multiplies by alpha where l is 1, and by 1 - alpha elsewhere
  double alpha = 0.25;
  double gamma = 2;            // how much less easy examples count; 0: the plain cross entropy
  bool from_logits = false;    // true: predictions are logits, and p is sigmoid(logits)
  double label_smoothing = 0;  // in [0, 1)
};
// (1 - q)^gamma * cross entropy of l and p, where q = l * p + (1 - l) * (1 - p) is the probability
// of the label. For many more negative than positive labels (Lin et al., 2017).
//   labels, predictions: any shape; labels in [0, 1].
// Source: TF 2.15 tf.keras.losses.BinaryFocalCrossentropy.
Tensor BinaryFocalCrossentropy(const Tensor& labels, const Tensor& predictions,
                               const BinaryFocalOptions& options = {});

struct CategoricalFocalOptions {
  std::optional<Operand> weights = std::nullopt;
  Reduction reduction = Reduction::kSumByNonzeroWeights;
  bool add_to_collection = true;
  double alpha = 0.25;
  double gamma = 2;
  bool from_logits = false;    // true: predictions are logits, and p is softmax(logits)
  double label_smoothing = 0;  // in [0, 1)
};
// -alpha * sum_c (1 - p[c])^gamma * l[c] * log(p[c]), with p divided by its sum over the classes.
//   labels, predictions: [..., C]; labels one-hot.
// Source: TF 2.15 tf.keras.losses.CategoricalFocalCrossentropy.
Tensor CategoricalFocalCrossentropy(const Tensor& labels, const Tensor& predictions,
                                    const CategoricalFocalOptions& options = {});

struct DiceOptions {
  std::optional<Operand> weights = std::nullopt;  // a number, [N] or [N, 1]
  Reduction reduction = Reduction::kSumByNonzeroWeights;
  bool add_to_collection = true;
  double smooth = 1;  // keeps the quotient defined for empty masks; such a prediction costs 0
};
// 1 - (2 * sum(p * l) + smooth) / (sum(p) + sum(l) + smooth), over all elements of an example. The
// loss is the mean over examples, so that it does not depend on the number of replicas.
//   labels: masks [N, ...] of 0 and 1.  predictions: probabilities [N, ...].
// Errors (kept by the graph): INVALID_ARGUMENT for a rank below 2.
// Source: Milletari et al., 2016.
Tensor DiceLoss(const Tensor& labels, const Tensor& predictions, const DiceOptions& options = {});

// max(0, 1 - (2 * l - 1) * p)^2, l in {0, 1}
// Source (of all below): TF 2.15 tf.keras.losses, the functions of these names.
Tensor SquaredHinge(const Tensor& labels, const Tensor& predictions, const Options& options = {});
// max(0, 1 + max_c((1 - l[c]) * p[c]) - sum_c(l[c] * p[c])) for each row of one-hot labels [..., C]
Tensor CategoricalHinge(const Tensor& labels, const Tensor& predictions,
                        const Options& options = {});
// sum_c l[c] * log(l[c] / p[c]) for each row [..., C], both clipped to [1e-7, 1]
Tensor KLDivergence(const Tensor& labels, const Tensor& predictions, const Options& options = {});
// p - l * log(p + 1e-7)
Tensor Poisson(const Tensor& labels, const Tensor& predictions, const Options& options = {});
// log(cosh(p - l))
Tensor LogCosh(const Tensor& labels, const Tensor& predictions, const Options& options = {});
// 100 * |l - p| / max(|l|, 1e-7)
Tensor MeanAbsolutePercentageError(const Tensor& labels, const Tensor& predictions,
                                   const Options& options = {});
// (log(1 + p) - log(1 + l))^2, both at least 1e-7
Tensor MeanSquaredLogarithmicError(const Tensor& labels, const Tensor& predictions,
                                   const Options& options = {});
// -sum_c(l[c] * p[c]) for each row [..., C], both divided by their lengths: -1 for one direction
Tensor CosineSimilarity(const Tensor& labels, const Tensor& predictions,
                        const Options& options = {});

}  // namespace estimator::losses

#endif  // ESTIMATOR_NN_LOSSES_KERAS_LOSSES_H_
