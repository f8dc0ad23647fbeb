// ClipByGlobalNorm as an optimizer: it clips the gradients, and another optimizer applies them.
//
//   train::ClipByGlobalNorm(train::Adam(0.001), 1.0).Minimize(loss)
//   tpu::CrossShardOptimizer(train::ClipByGlobalNorm(train::Adam(0.001), 1.0)).Minimize(loss)
//
// On replicas it clips the sum of their gradients, wrapped in a CrossShardOptimizer or bare. Around
// a CrossShardOptimizer, as in ClipByGlobalNorm(CrossShardOptimizer(...), 1.0), each replica clips
// its own part before the sum. Names of slots are those of the other optimizer.
#ifndef ESTIMATOR_NN_TRAIN_CLIPPING_OPTIMIZER_H_
#define ESTIMATOR_NN_TRAIN_CLIPPING_OPTIMIZER_H_

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "estimator/nn/train/optimizer.h"

namespace estimator::train {

// Source: TF 1.15 tf.contrib.estimator.clip_gradients_by_norm.
class ClippingOptimizer : public Optimizer {
 public:
  // REQUIRES: optimizer is not null.
  ClippingOptimizer(std::shared_ptr<Optimizer> optimizer, double clip_norm);

  std::vector<GradientAndVariable> ComputeGradients(
      const Tensor& loss, const std::vector<Variable>& variables = {}) override;
  Operation ApplyGradients(const std::vector<GradientAndVariable>& grads_and_vars,
                           const ApplyOptions& options = {}) override;
  bool SumsOverReplicas() const override { return optimizer_->SumsOverReplicas(); }

 protected:
  // Never called: ApplyGradients calls the other optimizer.
  std::vector<Operation> ApplyDense(const Tensor&, const Variable&) override { return {}; }

 private:
  std::shared_ptr<Optimizer> optimizer_;
  double clip_norm_;
};

// Errors (kept by the graph of ApplyGradients): INVALID_ARGUMENT unless clip_norm is 0 or more.
inline ClippingOptimizer ClipByGlobalNorm(std::shared_ptr<Optimizer> optimizer, double clip_norm) {
  return ClippingOptimizer(std::move(optimizer), clip_norm);
}
template <typename Wrapped, typename = std::enable_if_t<std::is_base_of_v<Optimizer, Wrapped>>>
ClippingOptimizer ClipByGlobalNorm(Wrapped optimizer, double clip_norm) {
  return ClippingOptimizer(std::make_shared<Wrapped>(std::move(optimizer)), clip_norm);
}

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_CLIPPING_OPTIMIZER_H_
