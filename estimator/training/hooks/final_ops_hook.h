// FinalOpsHook: evaluates tensors once, when the loop has ended.
#ifndef ESTIMATOR_TRAINING_HOOKS_FINAL_OPS_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_FINAL_OPS_HOOK_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "estimator/training/hooks/hook.h"

namespace estimator {

// The tensors may depend on variables and constants, but not on the input, because there is no
// batch at the end. TensorFlow's hook reports such a tensor when training is over; this one reports
// it before training begins.
// Source: TF 2.15 tf.estimator.FinalOpsHook.
class FinalOpsHook : public SessionRunHook {
 public:
  // final_ops: the tensors, by names of your choice.
  explicit FinalOpsHook(std::map<std::string, Tensor> final_ops)
      : final_ops_(std::move(final_ops)) {}

  // Returns the values by name after the loop has ended without an error. Empty before.
  const std::map<std::string, Array>& final_ops_values() const { return final_ops_values_; }

  // Errors: INVALID_ARGUMENT for an invalid tensor; OUT_OF_RANGE for one that needs the input.
  absl::Status Begin(Graph& graph) override;
  absl::Status End(Session& session) override;

 private:
  std::vector<Tensor> Tensors() const;

  const std::map<std::string, Tensor> final_ops_;
  std::map<std::string, Array> final_ops_values_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_FINAL_OPS_HOOK_H_
