// NanTensorHook: stops training when the loss is not finite.
#ifndef ESTIMATOR_TRAINING_HOOKS_NAN_TENSOR_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_NAN_TENSOR_HOOK_H_

#include "estimator/training/hooks/hook.h"

namespace estimator {

// Stops at a NaN or an Inf (TensorFlow's lets an Inf pass) and names the first tensor that has one.
// Source: TF 2.15 tf.estimator.NanTensorHook.
class NanTensorHook : public SessionRunHook {
 public:
  explicit NanTensorHook(Tensor loss, bool fail_on_nan_loss = true)
      : loss_(loss), fail_on_nan_loss_(fail_on_nan_loss) {}

  std::vector<Tensor> BeforeRun(RunContext&) override { return {loss_}; }
  // Errors: INVALID_ARGUMENT naming the step and the tensor; or, without fail_on_nan_loss, a
  // warning and a clean stop.
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

 private:
  const Tensor loss_;
  const bool fail_on_nan_loss_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_NAN_TENSOR_HOOK_H_
