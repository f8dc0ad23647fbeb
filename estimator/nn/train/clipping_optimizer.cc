#include "estimator/nn/train/clipping_optimizer.h"

#include "estimator/nn/cross_shard.h"
#include "estimator/nn/train/clip.h"
#include "glog/logging.h"

namespace estimator::train {

ClippingOptimizer::ClippingOptimizer(std::shared_ptr<Optimizer> optimizer, double clip_norm)
    : Optimizer(CHECK_NOTNULL(optimizer)->name(), optimizer->learning_rate()),
      optimizer_(std::move(optimizer)),
      clip_norm_(clip_norm) {}

std::vector<GradientAndVariable> ClippingOptimizer::ComputeGradients(
    const Tensor& loss, const std::vector<Variable>& variables) {
  return optimizer_->ComputeGradients(loss, variables);
}

Operation ClippingOptimizer::ApplyGradients(const std::vector<GradientAndVariable>& grads_and_vars,
                                            const ApplyOptions& options) {
  // A bare optimizer would sum after the clipping, but the norm is that of the sum.
  const bool sums = WrapsBareOptimizers() && !optimizer_->SumsOverReplicas();
  const std::vector<GradientAndVariable> clipped = ClipByGlobalNorm(
      sums ? SumGradientsNotYetSummed(grads_and_vars) : grads_and_vars, clip_norm_);
  const CrossShardScope scope;  // the other optimizer does not sum again
  return optimizer_->ApplyGradients(clipped, options);
}

}  // namespace estimator::train
