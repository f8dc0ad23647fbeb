// NanTensorHook: stops training when the loss is not finite.
#ifndef ESTIMATOR_TRAINING_HOOKS_NAN_TENSOR_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_NAN_TENSOR_HOOK_H_

#include "estimator/training/hooks/hook.h"

namespace estimator {

// Stops at a NaN or an Inf, and names the first tensor that has one. TensorFlow's hook stops at a
// NaN only. Source: TF 2.15 tf.estimator.NanTensorHook.
class NanTensorHook : public SessionRunHook {
 public:
  explicit NanTensorHook(Tensor loss, bool fail_on_nan_loss = true)
      : loss_(loss), fail_on_nan_loss_(fail_on_nan_loss) {}

  std::vector<Tensor> Fetches() override { return {loss_}; }
  std::vector<Tensor> BeforeRun(RunContext&) override { return {loss_}; }
  // Errors: INVALID_ARGUMENT naming the step and the tensor. If fail_on_nan_loss is false, logs a
  // warning instead and stops training without an error.
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

 private:
  const Tensor loss_;
  const bool fail_on_nan_loss_;
};

// Whether a status is the error of this hook: the variables may have numbers that are not finite.
bool IsNotFinite(const absl::Status& status);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_NAN_TENSOR_HOOK_H_
