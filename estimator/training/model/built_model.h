// BuiltModel: a model_fn that has been called: its graph, where the input goes in, and its spec.
#ifndef ESTIMATOR_TRAINING_MODEL_BUILT_MODEL_H_
#define ESTIMATOR_TRAINING_MODEL_BUILT_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/data/pipeline/element.h"
#include "estimator/graph/graph.h"
#include "estimator/training/input/features.h"
#include "estimator/training/input/input_slots.h"
#include "estimator/training/input/mode.h"
#include "estimator/training/model/model_spec.h"
#include "estimator/training/model/strategy.h"

namespace estimator {

struct BuiltModel {
  std::unique_ptr<Graph> graph;
  std::vector<InputSlot> slots;
  std::vector<Tensor> placeholders;  // one a slot
  ModelSpec spec;
  Scaffold scaffold;       // what spec.scaffold_fn gave
  int64_t batch_size = 0;  // rows that this model sees
  int num_replicas = 1;
  // An optimizer that model_fn left bare sums its gradients over the replicas by itself.
  bool summed_bare_optimizer = false;
};

struct BuildOptions {
  Mode mode = Mode::kTrain;
  std::optional<int64_t> seed;
  // Of the replica that the graph describes. 1: no collectives.
  int num_replicas = 1;
};

// Calls model_fn in `graph`, the current graph, and checks what it returned.
// Errors: the graph's first one; else those of the spec.
absl::StatusOr<ModelSpec> CallModelFn(const Strategy& strategy, const Graph& graph,
                                      const Features& features, const Labels& labels, Mode mode,
                                      int64_t batch_size);

// Calls model_fn in a fresh graph that has the seed, the global step and a placeholder for every
// array of `element`, checks what it returned, and calls its scaffold_fn there. Both calls see the
// replicas (nn/replica_scope.h).
absl::StatusOr<std::unique_ptr<BuiltModel>> BuildModel(const Strategy& strategy,
                                                       const Element& element,
                                                       const BuildOptions& options);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_BUILT_MODEL_H_
