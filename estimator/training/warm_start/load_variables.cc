#include "estimator/training/warm_start/load_variables.h"

#include <algorithm>
#include <string>

#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "glog/logging.h"

namespace estimator {

absl::Status LoadVariables(const BundleReader& reader, const std::vector<WantedVariable>& wanted,
                           VariableStore& store) {
  // After an error halfway, none of them must pass for restored.
  for (const WantedVariable& variable : wanted) store.MarkUninitialized(variable.name);
  for (const WantedVariable& variable : wanted) {
    EST_ASSIGN_OR_RETURN(Array * value, store.Allocate(variable.name, variable.spec));
    EST_RETURN_IF_ERROR(RestoreInto(reader, variable, value));
  }
  for (const WantedVariable& variable : wanted) store.MarkInitialized(variable.name);
  return absl::OkStatus();
}

void LogLoaded(absl::string_view verb, absl::string_view prefix,
               const std::vector<WantedVariable>& loaded, const Graph& graph) {
  const auto num_variables =
      std::count_if(graph.variables().begin(), graph.variables().end(),
                    [](const Variable& variable) { return !variable.local(); });
  LOG(INFO) << verb << " " << loaded.size() << " of " << num_variables << " variables from "
            << prefix << (VLOG_IS_ON(1) ? "" : " (--v=1 lists them)");
  if (!VLOG_IS_ON(1)) return;
  std::vector<std::vector<std::string>> rows = {{"variable", "value", "there"}};
  for (const WantedVariable& variable : loaded)
    rows.push_back({variable.name, variable.spec.ToString(), variable.stored_name});
  VLOG(1) << "from " << prefix << "\n" << FormatTable(rows);
}

}  // namespace estimator
