// Finds what trains a graph: its train ops, and the loss that they lower.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_FIND_TRAINING_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_FIND_TRAINING_H_

#include "absl/status/status.h"
#include "estimator/graphdef/import/import_source.h"
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

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_FIND_TRAINING_H_
