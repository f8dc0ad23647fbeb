// BuiltModel: a model_fn that has been called: its graph, where the input goes in, and its spec.
#ifndef ESTIMATOR_TRAINING_MODEL_BUILT_MODEL_H_
#define ESTIMATOR_TRAINING_MODEL_BUILT_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/data/pipeline/element.h"
#include "estimator/graph/graph.h"
#include "estimator/training/model/model_spec.h"
#include "estimator/training/model/strategy.h"

namespace estimator {

// One array of an element, and the placeholder that it feeds.
struct InputSlot {
  bool is_label = false;
  std::string name;  // "" for a bare array
  TensorSpec spec;

  // "features['image']", "labels"
  std::string ToString() const;
  friend bool operator==(const InputSlot& a, const InputSlot& b) {
    return a.is_label == b.is_label && a.name == b.name && a.spec == b.spec;
  }
};

// The slots of an element, features first, each in name order. Predicting, labels are left out.
std::vector<InputSlot> SlotsOf(const Element& element, Mode mode);
// The element's arrays in slot order.
// Errors: INVALID_ARGUMENT naming the slot, what it takes and what came: shapes are static.
absl::StatusOr<std::vector<Array>> FeedsOf(const std::vector<InputSlot>& slots,
                                           const Element& element);

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

// Rows of an element: the size of the first array's batch axis, of those that have one; 0 where
// none has. batch_axis: as Strategy::batch_axis; a list of another length, which feeders refuse
// (batch_axis.h), counts for nothing.
int64_t NumRows(const Element& element, absl::Span<const int64_t> batch_axis = {});

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_BUILT_MODEL_H_
