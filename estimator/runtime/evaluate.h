// Single steps of a graph, for tests, tools, and values that are needed once.
#ifndef ESTIMATOR_RUNTIME_EVALUATE_H_
#define ESTIMATOR_RUNTIME_EVALUATE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/backend.h"

namespace estimator {

// Compiles `spec`, runs one step on `backend` and returns copies of replica 0's fetches. All
// replicas get the same feeds.
absl::StatusOr<std::vector<Array>> RunOnce(Backend& backend, const Graph& graph,
                                           const ProgramSpec& spec, std::vector<Array> feeds = {});

// Evaluates tensors of one graph on a CPU backend. Variables have their initial values.
absl::StatusOr<std::vector<Array>> Evaluate(const std::vector<Tensor>& fetches,
                                            const std::vector<Tensor>& feeds = {},
                                            std::vector<Array> feed_values = {});

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_EVALUATE_H_
