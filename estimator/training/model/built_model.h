// BuiltModel: the result of a model_fn: its graph, its inputs and its spec.
#ifndef ESTIMATOR_TRAINING_MODEL_BUILT_MODEL_H_
#define ESTIMATOR_TRAINING_MODEL_BUILT_MODEL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/data/pipeline/element.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/replica_scope.h"
#include "estimator/training/input/features.h"
#include "estimator/training/input/input_slots.h"
#include "estimator/training/input/mode.h"
#include "estimator/training/model/model_spec.h"
#include "estimator/training/model/strategy.h"

namespace estimator {

struct BuiltModel {
  std::unique_ptr<Graph> graph;
  std::vector<InputSlot> slots;      // empty if the model was built for an export
  std::vector<Tensor> placeholders;  // one for each slot
  ModelSpec spec;
  Scaffold scaffold;       // the result of spec.scaffold_fn
  int64_t batch_size = 0;  // rows that this model sees
  int num_replicas = 1;
  double learning_rate_scale = 1;  // BuildOptions::learning_rate_scale
  // An optimizer that model_fn left bare sums its gradients over the replicas by itself.
  bool summed_bare_optimizer = false;
};

struct BuildOptions {
  Mode mode = Mode::kTrain;
  std::optional<int64_t> seed = std::nullopt;
  // The number of replicas; the graph describes one of them. 1: no collectives.
  int num_replicas = 1;
  double learning_rate_scale = 1;  // of optimizers
};

// Builds the model that a loop runs: its inputs are placeholders for the arrays of `element`.
// Errors: the graph's first one; else those of the spec.
absl::StatusOr<std::unique_ptr<BuiltModel>> BuildModel(const Strategy& strategy,
                                                       const Element& element,
                                                       const BuildOptions& options);

// What a model_fn is called with.
struct ModelInputs {
  std::map<std::string, Tensor> features = {};
  std::map<std::string, Tensor> labels = {};
  int64_t batch_size = 0;  // rows of these tensors
};
// Builds the inputs in the current graph.
using ModelInputsFn = std::function<absl::StatusOr<ModelInputs>()>;

// Builds a model in a fresh graph: sets the seed, makes the global step and the inputs, calls
// model_fn, checks its spec and calls its scaffold_fn, all within a ReplicaScope of `replicas`.
// Loops and exports build through here.
// Errors: those of `make_inputs`; the graph's first one; else those of the spec.
absl::StatusOr<std::unique_ptr<BuiltModel>> BuildModelFrom(const Strategy& strategy, Mode mode,
                                                           std::optional<int64_t> seed,
                                                           const Replicas& replicas,
                                                           const ModelInputsFn& make_inputs);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_BUILT_MODEL_H_
