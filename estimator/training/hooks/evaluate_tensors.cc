#include "estimator/training/hooks/evaluate_tensors.h"

#include <memory>

#include "estimator/base/status.h"
#include "estimator/graph/placeholder_dependency.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/evaluate.h"

namespace estimator {

absl::Status CheckNeedsNoInput(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    if (!tensor.valid()) return InvalidArgument("a tensor to evaluate is not valid");
    const Node* placeholder = FindPlaceholder(tensor);
    if (placeholder == nullptr) continue;
    return OutOfRange(
        tensor.name(), " needs the input '", placeholder->name(), "' (",
        placeholder->outputs()[0].ToString(),
        "), but there is no batch outside of a run: evaluate only tensors that depend "
        "on variables and constants; or request the tensor in BeforeRun, and keep the "
        "value that AfterRun gets");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Array>> EvaluateTensors(Session& session,
                                                   const std::vector<Tensor>& tensors) {
  EST_RETURN_IF_ERROR(CheckNeedsNoInput(tensors));
  const std::unique_ptr<Backend> backend = MakeCpuBackend(session.variables());
  return RunOnce(*backend, session.graph(), {.feeds = {}, .fetches = tensors, .updates = {}});
}

}  // namespace estimator
