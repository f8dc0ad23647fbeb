// Warns of a batch normalization whose scale or offset comes from a checkpoint, and whose moving
// averages do not. They then start at 0 and 1, so that evaluation and frozen layers compute with
// statistics that do not fit the weights.
#ifndef ESTIMATOR_TRAINING_WARM_START_MOVING_AVERAGES_H_
#define ESTIMATOR_TRAINING_WARM_START_MOVING_AVERAGES_H_

#include <set>
#include <string>
#include <vector>

#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/restore.h"
#include "estimator/graph/graph.h"

namespace estimator {

// Logs one warning that names them, with the cause: the checkpoint lacks them, or nobody asked for
// them. Batch normalizations are found by the names of their variables: moving_mean and
// moving_variance beside gamma or beta.
//   loaded: the variables that come from `reader`.
//   all: the names of all variables that come from any checkpoint.
void WarnOfMovingAverages(const Graph& graph, const BundleReader& reader,
                          const std::vector<WantedVariable>& loaded,
                          const std::set<std::string>& all);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_WARM_START_MOVING_AVERAGES_H_
