#include "estimator/nn/losses/losses.h"

#include <utility>

#include "estimator/base/status.h"
#include "estimator/nn/losses/weighted_loss.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/softmax.h"

namespace estimator::losses {

Tensor SparseSoftmaxCrossEntropy(const Tensor& labels, const Tensor& logits,
                                 const Options& options) {
  constexpr char kName[] = "sparse_softmax_cross_entropy_loss";
  Graph& graph = GraphFor({logits, labels});
  const NameScope scope(kName, graph);
  for (const auto& [tensor, what] : {std::pair(labels, "labels"), std::pair(logits, "logits")}) {
    if (tensor.valid()) continue;
    return graph.Fail(
        InvalidArgument(kName, ": ", what,
                        " are not a tensor (a default-constructed handle); there are no labels in "
                        "prediction, or if the dataset of input_fn returns none"));
  }
  Tensor classes = labels;
  if (labels.valid() && labels.rank() == logits.rank() && labels.rank() > 0 &&
      labels.dim(-1) == 1) {
    classes = Squeeze(labels, {-1});
  }
  bool fits = classes.valid() && logits.valid() && logits.rank() >= 2 &&
              classes.rank() + 1 == logits.rank() &&
              (classes.dtype() == DType::kInt32 || classes.dtype() == DType::kInt64);
  for (int i = 0; fits && i < classes.rank(); ++i) fits = classes.dim(i) == logits.dim(i);
  if (!fits) {
    return graph.Fail(InvalidArgument(
        kName, ": labels are ", labels.spec().ToString(), ", logits ", logits.spec().ToString(),
        "; labels must be i32 or i64 and have the shape of logits without its last axis"));
  }
  return ComputeWeightedLoss(SparseSoftmaxCrossEntropyWithLogits(classes, logits), options);
}

Tensor SoftmaxCrossEntropy(const Tensor& onehot_labels, const Tensor& logits,
                           const SmoothingOptions& options) {
  constexpr char kName[] = "softmax_cross_entropy_loss";
  return WeightedLoss(
      kName, onehot_labels, logits, options, [&](const Tensor& labels, const Tensor& x) {
        const double classes = logits.rank() == 0 ? 1 : static_cast<double>(logits.dim(-1));
        return SoftmaxCrossEntropyWithLogits(
            StopGradient(SmoothLabels(labels, options.label_smoothing, 1 / classes, kName)), x);
      });
}

Tensor SigmoidCrossEntropy(const Tensor& multi_class_labels, const Tensor& logits,
                           const SmoothingOptions& options) {
  constexpr char kName[] = "sigmoid_cross_entropy_loss";
  return WeightedLoss(kName, multi_class_labels, logits, options,
                      [&](const Tensor& labels, const Tensor& x) {
                        return SigmoidCrossEntropyWithLogits(
                            SmoothLabels(labels, options.label_smoothing, 0.5, kName), x);
                      });
}

Tensor MeanSquaredError(const Tensor& labels, const Tensor& predictions, const Options& options) {
  return WeightedLoss("mean_squared_error", labels, predictions, options,
                      [](const Tensor& l, const Tensor& p) { return SquaredDifference(p, l); });
}

Tensor AbsoluteDifference(const Tensor& labels, const Tensor& predictions, const Options& options) {
  return WeightedLoss("absolute_difference", labels, predictions, options,
                      [](const Tensor& l, const Tensor& p) { return Abs(p - l); });
}

Tensor HingeLoss(const Tensor& labels, const Tensor& logits, const Options& options) {
  return WeightedLoss("hinge_loss", labels, logits, options,
                      [](const Tensor& l, const Tensor& x) { return Relu(1 - (l * 2 - 1) * x); });
}

Tensor HuberLoss(const Tensor& labels, const Tensor& predictions, const HuberOptions& options) {
  return WeightedLoss("huber_loss", labels, predictions, options,
                      [&](const Tensor& l, const Tensor& p) {
                        const Tensor error = Abs(p - l);
                        const Tensor quadratic = Minimum(error, options.delta);
                        return Square(quadratic) * 0.5 + (error - quadratic) * options.delta;
                      });
}

Tensor LogLoss(const Tensor& labels, const Tensor& predictions, const LogLossOptions& options) {
  return WeightedLoss(
      "log_loss", labels, predictions, options, [&](const Tensor& l, const Tensor& p) {
        return -(l * Log(p + options.epsilon)) - (1 - l) * Log(1 - p + options.epsilon);
      });
}

Tensor CosineDistance(const Tensor& labels, const Tensor& predictions, int axis,
                      const Options& options) {
  return WeightedLoss("cosine_distance_loss", labels, predictions, options,
                      [axis](const Tensor& l, const Tensor& p) {
                        return 1 - ReduceSum(p * l, axis, {.keepdims = true});
                      });
}

}  // namespace estimator::losses
