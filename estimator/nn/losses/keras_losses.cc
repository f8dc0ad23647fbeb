#include "estimator/nn/losses/keras_losses.h"

#include <cmath>

#include "estimator/base/status.h"
#include "estimator/nn/losses/weighted_loss.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/softmax.h"

namespace estimator::losses {
namespace {

constexpr double kKerasEpsilon = 1e-7;  // tf.keras.backend.epsilon()

Tensor Clipped(const Tensor& probabilities) {
  return ClipByValue(probabilities, kKerasEpsilon, 1 - kKerasEpsilon);
}

// (1 - p)^gamma. Without a focus there is no power, whose derivative at 0 is not finite.
Tensor FocalFactor(const Tensor& losses, const Tensor& p, double gamma) {
  return gamma == 0 ? losses : Pow(1 - p, gamma) * losses;
}

Tensor UnitLength(const Tensor& x) {
  const Tensor square = ReduceSum(Square(x), -1, {.keepdims = true});
  return x * Rsqrt(Maximum(square, 1e-12));
}

}  // namespace

Tensor BinaryFocalCrossentropy(const Tensor& labels, const Tensor& predictions,
                               const BinaryFocalOptions& options) {
  constexpr char kName[] = "binary_focal_crossentropy";
  return WeightedLoss(
      kName, labels, predictions, options, [&](const Tensor& given, const Tensor& x) {
        const Tensor l = SmoothLabels(given, options.label_smoothing, 0.5, kName);
        const Tensor p = options.from_logits ? Sigmoid(x) : x;
        const auto log_of = [](const Tensor& q) { return Log(q + kKerasEpsilon); };
        const Tensor entropy = options.from_logits
                                   ? SigmoidCrossEntropyWithLogits(l, x)
                                   : -(l * log_of(Clipped(x))) - (1 - l) * log_of(1 - Clipped(x));
        const Tensor focal = FocalFactor(entropy, l * p + (1 - l) * (1 - p), options.gamma);
        if (!options.apply_class_balancing) return focal;
        return (l * options.alpha + (1 - l) * (1 - options.alpha)) * focal;
      });
}

Tensor CategoricalFocalCrossentropy(const Tensor& labels, const Tensor& predictions,
                                    const CategoricalFocalOptions& options) {
  constexpr char kName[] = "categorical_focal_crossentropy";
  return WeightedLoss(
      kName, labels, predictions, options, [&](const Tensor& given, const Tensor& x) {
        const auto classes = static_cast<double>(x.dim(-1));
        const Tensor l = SmoothLabels(given, options.label_smoothing, 1 / classes, kName);
        const Tensor raw = options.from_logits ? Softmax(x) : x;
        const Tensor p = Clipped(raw / ReduceSum(raw, -1, {.keepdims = true}));
        return ReduceSum(FocalFactor(-(l * Log(p)) * options.alpha, p, options.gamma), -1);
      });
}

Tensor DiceLoss(const Tensor& labels, const Tensor& predictions, const DiceOptions& options) {
  return WeightedLoss(
      "dice_loss", labels, predictions, options, [&](const Tensor& l, const Tensor& p) {
        if (p.rank() < 2) {
          return p.graph()->Fail(
              InvalidArgument("dice_loss: predictions are ", p.spec().ToString(),
                              ", but a mask for each example has rank 2 or more"));
        }
        const auto sum = [&](const Tensor& x) {
          return ReduceSum(Reshape(x, Shape{x.dim(0), -1}), 1);
        };
        return 1 - (sum(p * l) * 2 + options.smooth) / (sum(p) + sum(l) + options.smooth);
      });
}

Tensor SquaredHinge(const Tensor& labels, const Tensor& predictions, const Options& options) {
  return WeightedLoss(
      "squared_hinge", labels, predictions, options,
      [](const Tensor& l, const Tensor& p) { return Square(Relu(1 - (l * 2 - 1) * p)); });
}

Tensor CategoricalHinge(const Tensor& labels, const Tensor& predictions, const Options& options) {
  return WeightedLoss("categorical_hinge", labels, predictions, options,
                      [](const Tensor& l, const Tensor& p) {
                        return Relu(ReduceMax((1 - l) * p, -1) - ReduceSum(l * p, -1) + 1);
                      });
}

Tensor KLDivergence(const Tensor& labels, const Tensor& predictions, const Options& options) {
  return WeightedLoss("kl_divergence", labels, predictions, options,
                      [](const Tensor& given, const Tensor& predicted) {
                        const Tensor l = ClipByValue(given, kKerasEpsilon, 1);
                        const Tensor p = ClipByValue(predicted, kKerasEpsilon, 1);
                        return ReduceSum(l * Log(l / p), -1);
                      });
}

Tensor Poisson(const Tensor& labels, const Tensor& predictions, const Options& options) {
  return WeightedLoss(
      "poisson", labels, predictions, options,
      [](const Tensor& l, const Tensor& p) { return p - l * Log(p + kKerasEpsilon); });
}

Tensor LogCosh(const Tensor& labels, const Tensor& predictions, const Options& options) {
  return WeightedLoss("log_cosh", labels, predictions, options,
                      [](const Tensor& l, const Tensor& p) {
                        const Tensor x = p - l;
                        return x + Softplus(x * -2) - std::log(2.0);
                      });
}

Tensor MeanAbsolutePercentageError(const Tensor& labels, const Tensor& predictions,
                                   const Options& options) {
  return WeightedLoss("mean_absolute_percentage_error", labels, predictions, options,
                      [](const Tensor& l, const Tensor& p) {
                        return Abs((l - p) / Maximum(Abs(l), kKerasEpsilon)) * 100;
                      });
}

Tensor MeanSquaredLogarithmicError(const Tensor& labels, const Tensor& predictions,
                                   const Options& options) {
  return WeightedLoss("mean_squared_logarithmic_error", labels, predictions, options,
                      [](const Tensor& l, const Tensor& p) {
                        return SquaredDifference(Log(Maximum(p, kKerasEpsilon) + 1),
                                                 Log(Maximum(l, kKerasEpsilon) + 1));
                      });
}

Tensor CosineSimilarity(const Tensor& labels, const Tensor& predictions, const Options& options) {
  return WeightedLoss("cosine_similarity", labels, predictions, options,
                      [](const Tensor& l, const Tensor& p) {
                        return -ReduceSum(UnitLength(l) * UnitLength(p), -1);
                      });
}

}  // namespace estimator::losses
