// Notices a run that continues with another seed than its checkpoint's. The random ops of the
// training graph, which is saved with a checkpoint as model.ckpt-N.meta, have the seed as an
// attribute.
#ifndef ESTIMATOR_TRAINING_LOOP_CHANGED_SEED_H_
#define ESTIMATOR_TRAINING_LOOP_CHANGED_SEED_H_

#include <string>

#include "estimator/graph/graph.h"

namespace estimator {

// Logs a warning with both seeds if a random op of `graph` has another graph seed than the op of
// the same name in the graph of the checkpoint `prefix`. Does nothing if the checkpoint has no
// graph (RunConfig.checkpoint_save_graph_def), if the graph is damaged or larger than 64 MiB, or if
// no random op has the same name.
void WarnOfChangedSeed(const Graph& graph, const std::string& prefix);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_CHANGED_SEED_H_
