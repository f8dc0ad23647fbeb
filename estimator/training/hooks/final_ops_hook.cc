#include "estimator/training/hooks/final_ops_hook.h"

#include "estimator/base/status.h"
#include "estimator/training/hooks/evaluate_tensors.h"
#include "glog/logging.h"

namespace estimator {

std::vector<Tensor> FinalOpsHook::Tensors() const {
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : final_ops_) tensors.push_back(tensor);
  return tensors;
}

absl::Status FinalOpsHook::Begin(Graph&) {
  final_ops_values_.clear();
  // TensorFlow's hook finds such a tensor only when training is over.
  const absl::Status status = CheckNeedsNoInput(Tensors());
  if (absl::IsOutOfRange(status))
    LOG(WARNING) << "FinalOpsHook: a tensor of final_ops depends on the input";
  return status.ok() ? status : Annotate(status, "FinalOpsHook");
}

absl::Status FinalOpsHook::End(Session& session) {
  EST_ASSIGN_OR_RETURN(const std::vector<Array> values, EvaluateTensors(session, Tensors()));
  size_t i = 0;
  for (const auto& [name, tensor] : final_ops_) final_ops_values_[name] = values[i++];
  return absl::OkStatus();
}

}  // namespace estimator
