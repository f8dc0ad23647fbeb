#include "estimator/nn/train/slot_creator.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/graph/graph.h"

namespace estimator::train {

std::string UniqueVariableName(absl::string_view name) {
  Graph& graph = Graph::Current();
  std::string unique(name);
  for (int suffix = 1; graph.FindVariable(unique).has_value(); ++suffix)
    unique = absl::StrCat(name, "_", suffix);
  return unique;
}

Variable CreateAbsoluteVariable(absl::string_view name, const Shape& shape, DType dtype,
                                const Initializer& initializer) {
  VariableScopeState& scope = Graph::Current().variable_scope();
  const std::string prefix = std::exchange(scope.prefix, "");
  const Reuse reuse = std::exchange(scope.reuse, Reuse::kFalse);
  const Variable variable =
      GetVariable(name, shape, {.dtype = dtype, .initializer = initializer, .trainable = false});
  scope.prefix = prefix;
  scope.reuse = reuse;
  if (variable.valid()) Graph::Current().training_variables().insert(variable.name());
  return variable;
}

Variable CreateSlot(const Variable& primary, absl::string_view name, const Initializer& initializer,
                    const TensorSpec& spec) {
  const std::string prefix = Graph::Current().variable_scope().prefix;
  const std::string full = UniqueVariableName(absl::StrCat(prefix, primary.name(), "/", name));
  return CreateAbsoluteVariable(full, spec.shape, spec.dtype, initializer);
}

}  // namespace estimator::train
