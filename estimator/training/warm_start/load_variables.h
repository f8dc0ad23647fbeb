// Reads values of a checkpoint directly into a VariableStore.
#ifndef ESTIMATOR_TRAINING_WARM_START_LOAD_VARIABLES_H_
#define ESTIMATOR_TRAINING_WARM_START_LOAD_VARIABLES_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/restore.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/variable_store.h"

namespace estimator {

// Reads one variable at a time, without an intermediate copy.
// REQUIRES: CheckRestorable returned OK.
// Errors: as BundleReader::ReadInto. The values of `wanted` in the store are then undefined.
absl::Status LoadVariables(const BundleReader& reader, const std::vector<WantedVariable>& wanted,
                           VariableStore& store);

// Logs "<verb> 6 of 9 variables from <prefix>". With --v=1 also logs a table of the variables.
void LogLoaded(absl::string_view verb, absl::string_view prefix,
               const std::vector<WantedVariable>& loaded, const Graph& graph);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_WARM_START_LOAD_VARIABLES_H_
