#include "estimator/graphdef/import/find_step.h"

#include <string>

#include "absl/status/statusor.h"
#include "estimator/base/status.h"
#include "estimator/graphdef/import/op_support.h"

namespace estimator {

absl::Status FindStep(const ImportPlan& plan, StringArg where, ImportSource& source) {
  const auto is_step = [&source](const SourceVariable& variable, absl::string_view name) {
    const absl::StatusOr<TensorSpec> spec = VariableSpec(source.nodes->node(variable.node));
    return variable.name == name && !variable.local && spec.ok() &&
           spec->shape.num_elements() == 1 && IsInteger(spec->dtype);
  };
  const std::string& named = source.stored_step_name;
  source.counts_steps = true;
  for (const SourceVariable& variable : source.variables) {
    if (!named.empty() && named != "global_step" && is_step(variable, named))
      return absl::OkStatus();
    if (!is_step(variable, "global_step")) continue;
    const TensorSpec spec = *VariableSpec(source.nodes->node(variable.node));
    const bool advances = source.info.role != TrainGraphRole::kTrain ||
                          (plan.order && !plan.order->Writes(variable.node).empty());
    const bool counts = spec == TensorSpec{DType::kInt64, Shape{}} && advances;
    if (counts && (named.empty() || named == "global_step")) source.counts_steps = false;
    if (counts && named == "global_step") return absl::OkStatus();
  }
  if (named.empty()) return absl::OkStatus();
  return InvalidArgument(where, ": TrainGraphOptions::global_step, --global_step: '", named,
                         "' is no variable of the graph that is one integer in checkpoints",
                         named == "global_step" ? " and that train_op updates" : "",
                         "; leave it out, and the loop counts the steps");
}

}  // namespace estimator
