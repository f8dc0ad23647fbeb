#include "estimator/nn/losses/losses.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/nn/match_shapes.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/softmax.h"

namespace estimator::losses {
namespace {

template <typename Specific>
Options Common(const Specific& options) {
  return {.weights = options.weights,
          .reduction = options.reduction,
          .add_to_collection = options.add_to_collection};
}

// Returns both in one shape, with labels cast to the predictions' dtype.
LabelsAndPredictions Match(const Tensor& labels, const Tensor& predictions,
                           absl::string_view loss) {
  LabelsAndPredictions pair = MatchShapes(labels, predictions, loss);
  if (pair.labels.valid()) pair.labels = Cast(pair.labels, pair.predictions.dtype());
  return pair;
}

// Returns labels * (1 - smoothing) + smoothing * uniform. The result is invalid after an error.
Tensor Smooth(const Tensor& labels, double smoothing, double uniform, absl::string_view loss) {
  if (smoothing == 0 || !labels.valid()) return labels;
  if (!(smoothing > 0 && smoothing < 1)) {
    return labels.graph()->Fail(absl::InvalidArgumentError(
        absl::StrCat(loss, ": label_smoothing must be in [0, 1), got ", smoothing)));
  }
  return labels * (1 - smoothing) + smoothing * uniform;
}

}  // namespace

Tensor SparseSoftmaxCrossEntropy(const Tensor& labels, const Tensor& logits,
                                 const Options& options) {
  constexpr char kName[] = "sparse_softmax_cross_entropy_loss";
  Graph& graph = GraphFor({logits, labels});
  const NameScope scope(kName, graph);
  for (const auto& [tensor, what] : {std::pair(labels, "labels"), std::pair(logits, "logits")}) {
    if (tensor.valid()) continue;
    return graph.Fail(absl::InvalidArgumentError(
        absl::StrCat(kName, ": ", what,
                     " are not a tensor (a default-constructed handle); there are no labels in "
                     "prediction, or if the dataset of input_fn returns none")));
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
    return graph.Fail(absl::InvalidArgumentError(absl::StrCat(
        kName, ": labels are ", labels.spec().ToString(), ", logits ", logits.spec().ToString(),
        "; labels must be i32 or i64 and have the shape of logits without its last axis")));
  }
  return ComputeWeightedLoss(SparseSoftmaxCrossEntropyWithLogits(classes, logits), options);
}

Tensor SoftmaxCrossEntropy(const Tensor& onehot_labels, const Tensor& logits,
                           const SmoothingOptions& options) {
  constexpr char kName[] = "softmax_cross_entropy_loss";
  const NameScope scope(kName, GraphFor({logits, onehot_labels}));
  const LabelsAndPredictions pair = Match(onehot_labels, logits, kName);
  if (!pair.labels.valid()) return pair.labels;
  const double classes = logits.rank() == 0 ? 1 : static_cast<double>(logits.dim(-1));
  const Tensor labels =
      StopGradient(Smooth(pair.labels, options.label_smoothing, 1 / classes, kName));
  return ComputeWeightedLoss(SoftmaxCrossEntropyWithLogits(labels, pair.predictions),
                             Common(options));
}

Tensor SigmoidCrossEntropy(const Tensor& multi_class_labels, const Tensor& logits,
                           const SmoothingOptions& options) {
  constexpr char kName[] = "sigmoid_cross_entropy_loss";
  const NameScope scope(kName, GraphFor({logits, multi_class_labels}));
  const LabelsAndPredictions pair = Match(multi_class_labels, logits, kName);
  if (!pair.labels.valid()) return pair.labels;
  const Tensor labels = Smooth(pair.labels, options.label_smoothing, 0.5, kName);
  return ComputeWeightedLoss(SigmoidCrossEntropyWithLogits(labels, pair.predictions),
                             Common(options));
}

Tensor MeanSquaredError(const Tensor& labels, const Tensor& predictions, const Options& options) {
  const NameScope scope("mean_squared_error", GraphFor({predictions, labels}));
  const LabelsAndPredictions pair = Match(labels, predictions, "mean_squared_error");
  if (!pair.labels.valid()) return pair.labels;
  return ComputeWeightedLoss(SquaredDifference(pair.predictions, pair.labels), options);
}

Tensor AbsoluteDifference(const Tensor& labels, const Tensor& predictions, const Options& options) {
  const NameScope scope("absolute_difference", GraphFor({predictions, labels}));
  const LabelsAndPredictions pair = Match(labels, predictions, "absolute_difference");
  if (!pair.labels.valid()) return pair.labels;
  return ComputeWeightedLoss(Abs(pair.predictions - pair.labels), options);
}

Tensor HingeLoss(const Tensor& labels, const Tensor& logits, const Options& options) {
  const NameScope scope("hinge_loss", GraphFor({logits, labels}));
  const LabelsAndPredictions pair = Match(labels, logits, "hinge_loss");
  if (!pair.labels.valid()) return pair.labels;
  return ComputeWeightedLoss(Relu(1 - (pair.labels * 2 - 1) * pair.predictions), options);
}

Tensor HuberLoss(const Tensor& labels, const Tensor& predictions, const HuberOptions& options) {
  const NameScope scope("huber_loss", GraphFor({predictions, labels}));
  const LabelsAndPredictions pair = Match(labels, predictions, "huber_loss");
  if (!pair.labels.valid()) return pair.labels;
  const Tensor error = Abs(pair.predictions - pair.labels);
  const Tensor quadratic = Minimum(error, options.delta);
  const Tensor losses = Square(quadratic) * 0.5 + (error - quadratic) * options.delta;
  return ComputeWeightedLoss(losses, Common(options));
}

Tensor LogLoss(const Tensor& labels, const Tensor& predictions, const LogLossOptions& options) {
  const NameScope scope("log_loss", GraphFor({predictions, labels}));
  const LabelsAndPredictions pair = Match(labels, predictions, "log_loss");
  if (!pair.labels.valid()) return pair.labels;
  const Tensor &l = pair.labels, &p = pair.predictions;
  const Tensor losses = -(l * Log(p + options.epsilon)) - (1 - l) * Log(1 - p + options.epsilon);
  return ComputeWeightedLoss(losses, Common(options));
}

Tensor CosineDistance(const Tensor& labels, const Tensor& predictions, int axis,
                      const Options& options) {
  const NameScope scope("cosine_distance_loss", GraphFor({predictions, labels}));
  const LabelsAndPredictions pair = Match(labels, predictions, "cosine_distance_loss");
  if (!pair.labels.valid()) return pair.labels;
  return ComputeWeightedLoss(
      1 - ReduceSum(pair.predictions * pair.labels, axis, {.keepdims = true}), options);
}

}  // namespace estimator::losses
