// Reads values of a checkpoint straight into a VariableStore.
#ifndef ESTIMATOR_TRAINING_WARM_START_LOAD_VARIABLES_H_
#define ESTIMATOR_TRAINING_WARM_START_LOAD_VARIABLES_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/restore.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/variable_store.h"

namespace estimator {

// One variable at a time, with no copy between. REQUIRES: CheckRestorable was OK. Errors: as
// BundleReader::ReadInto; the values of `wanted` in the store then no longer count.
absl::Status LoadVariables(const BundleReader& reader, const std::vector<WantedVariable>& wanted,
                           VariableStore& store);

// One line, "<verb> 6 of 9 variables from <prefix>", and with --v=1 a table of them.
void LogLoaded(absl::string_view verb, absl::string_view prefix,
               const std::vector<WantedVariable>& loaded, const Graph& graph);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_WARM_START_LOAD_VARIABLES_H_
