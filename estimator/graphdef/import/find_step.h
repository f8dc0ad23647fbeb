// Decides who counts the steps of an imported training graph.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_FIND_STEP_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_FIND_STEP_H_

#include "absl/status/status.h"
#include "estimator/base/string_arg.h"
#include "estimator/graphdef/import/import_source.h"
#include "estimator/graphdef/import/plan.h"

namespace estimator {

// Sets source.counts_steps to whether the loop has to count, because no variable of the graph does.
//   where: the beginning of an error.
// Errors: INVALID_ARGUMENT if TrainGraphOptions::global_step names no such variable.
absl::Status FindStep(const ImportPlan& plan, StringArg where, ImportSource& source);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_FIND_STEP_H_
