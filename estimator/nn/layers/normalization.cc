#include "estimator/nn/layers/normalization.h"

#include <vector>

#include "estimator/base/status.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/layers/layer.h"
#include "estimator/nn/moving_average.h"
#include "estimator/ops/batch_norm.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"

namespace estimator::layers {
namespace {

// Returns f64 if x is f64, else f32: 16 bits are not precise enough for statistics.
DType StatisticsType(const Tensor& x) {
  return x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

Variable ChannelVariable(absl::string_view name, const Tensor& x, const Initializer& given,
                         const Initializer& usual, const Regularizer& regularizer, bool trainable) {
  return GetVariable(name, {x.dim(-1)},
                     {.dtype = StatisticsType(x),
                      .initializer = given ? given : usual,
                      .regularizer = regularizer,
                      .trainable = trainable});
}

void FollowStatistics(const Variable& moving_mean, const Variable& moving_variance,
                      const Tensor& mean, const Tensor& variance, double momentum) {
  if (!moving_mean.valid() || !moving_variance.valid() || !mean.valid() || !variance.valid())
    return;
  for (const auto& [variable, value] :
       {std::pair(moving_mean, mean), std::pair(moving_variance, variance)}) {
    const Operation update = AssignMovingAverage(variable, value, momentum);
    if (update.valid()) update.graph()->update_ops().push_back(update);
  }
}

}  // namespace

Tensor BatchNormalization(const Tensor& x, const BatchNormalizationOptions& options) {
  const LayerScope scope(options.name, "batch_normalization");
  if (!CheckRank(x, "batch_normalization", 2, 64)) return InvalidLike(x);
  const Initializer zeros = initializers::Zeros(), ones = initializers::Ones();
  Variable gamma, beta;
  if (options.scale) {
    gamma = ChannelVariable("gamma", x, options.gamma_initializer, ones, options.gamma_regularizer,
                            options.trainable);
  }
  if (options.center) {
    beta = ChannelVariable("beta", x, options.beta_initializer, zeros, options.beta_regularizer,
                           options.trainable);
  }
  const Variable moving_mean =
      ChannelVariable("moving_mean", x, options.moving_mean_initializer, zeros, nullptr, false);
  const Variable moving_variance = ChannelVariable(
      "moving_variance", x, options.moving_variance_initializer, ones, nullptr, false);
  if (!x.graph()->status().ok()) return InvalidLike(x);

  const DType dtype = StatisticsType(x);
  const float epsilon = static_cast<float>(options.epsilon);
  if (x.rank() == 4) {
    const Tensor scale = options.scale ? gamma.read() : Ones({x.dim(3)}, dtype);
    const Tensor offset = options.center ? beta.read() : Zeros({x.dim(3)}, dtype);
    if (!options.training) {
      return FusedBatchNorm(x, scale, offset,
                            {.mean = moving_mean,
                             .variance = moving_variance,
                             .epsilon = epsilon,
                             .is_training = false})
          .y;
    }
    const FusedBatchNormOutputs result = FusedBatchNorm(x, scale, offset, {.epsilon = epsilon});
    FollowStatistics(moving_mean, moving_variance, result.batch_mean, result.batch_variance,
                     options.momentum);
    return result.y;
  }
  Tensor mean = moving_mean, variance = moving_variance;
  const Tensor wide = Cast(x, dtype);
  if (options.training) {
    std::vector<int64_t> axes;
    for (int axis = 0; axis + 1 < x.rank(); ++axis) axes.push_back(axis);
    const MeanAndVariance moments = Moments(wide, axes);
    mean = moments.mean;
    variance = moments.variance;
    FollowStatistics(moving_mean, moving_variance, mean, variance, options.momentum);
  }
  const Tensor y = estimator::BatchNormalization(wide, mean, variance, beta, gamma, epsilon);
  return Cast(y, x.dtype());
}

Tensor LayerNorm(const Tensor& x, const LayerNormOptions& options) {
  const LayerScope scope(options.name, "LayerNorm");
  if (!CheckRank(x, "LayerNorm", 1, 64)) return InvalidLike(x);
  const int first =
      options.begin_norm_axis < 0 ? options.begin_norm_axis + x.rank() : options.begin_norm_axis;
  if (first < 0 || first >= x.rank()) {
    return x.graph()->Fail(InvalidArgument("LayerNorm: begin_norm_axis ", options.begin_norm_axis,
                                           " is not an axis of ", x.spec().ToString(), " ('",
                                           x.name(), "')"));
  }
  const Initializer zeros = initializers::Zeros(), ones = initializers::Ones();
  Variable beta, gamma;
  if (options.center) beta = ChannelVariable("beta", x, nullptr, zeros, nullptr, options.trainable);
  if (options.scale) gamma = ChannelVariable("gamma", x, nullptr, ones, nullptr, options.trainable);
  if (!x.graph()->status().ok()) return InvalidLike(x);
  std::vector<int64_t> axes;
  for (int axis = first; axis < x.rank(); ++axis) axes.push_back(axis);
  const Tensor wide = Cast(x, StatisticsType(x));
  const MeanAndVariance moments = Moments(wide, axes, {.keepdims = true});
  const Tensor y = estimator::BatchNormalization(wide, moments.mean, moments.variance, beta, gamma,
                                                 static_cast<float>(options.epsilon));
  return Cast(y, x.dtype());
}

}  // namespace estimator::layers
