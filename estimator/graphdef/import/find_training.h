// Finds what trains a graph: its train ops, the loss that they lower, and what counts the steps.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_FIND_TRAINING_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_FIND_TRAINING_H_

#include "absl/status/status.h"
#include "estimator/base/string_arg.h"
#include "estimator/graphdef/import/import_source.h"
#include "estimator/graphdef/import/plan.h"
#include "estimator/graphdef/import_train_graph.h"

namespace estimator {

// Fills source.train_ops and info.train_op, from TrainGraphOptions::train_op, from the collections,
// or else with the op that nothing reads and that runs all updates of variables.
// Errors: INVALID_ARGUMENT if no op runs all updates, naming those that run some of them.
absl::Status FindTrainOps(const TrainGraphOptions& options, ImportSource& source);

// Fills source.loss and info.loss: see TrainGraphOptions::loss. Without a collection that has it,
// the loss is the op whose gradient a scope `gradients` begins with.
// REQUIRES: FindTrainOps was called, if the role is kTrain.
// Errors: INVALID_ARGUMENT if there are several, naming them.
absl::Status FindLoss(const TrainGraphOptions& options, ImportSource& source);

// Sets source.counts_steps to whether the loop has to count, because no variable of the graph does.
//   where: the beginning of an error.
// Errors: INVALID_ARGUMENT if TrainGraphOptions::global_step names no such variable.
absl::Status FindStep(const ImportPlan& plan, StringArg where, ImportSource& source);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_FIND_TRAINING_H_
