// CheckedModel: a model_fn's result as the rules see it.
#ifndef TPU_RULES_CHECKED_MODEL_H_
#define TPU_RULES_CHECKED_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/graph/graph.h"
#include "estimator/training/strategies.h"

namespace estimator::tpu {

// References are valid while model_fn's graph is.
struct CheckedModel {
  Mode mode = Mode::kTrain;
  const Graph& graph;
  const ModelSpec& spec;
  int64_t rows = 0;  // of the batch of one core; 0 if the inputs have no batch axis
  int num_replicas = 1;
  bool broadcast = false;  // every core gets the whole batch
  // Memory of a core in GiB: that of the topology, or of the largest TPU.
  int64_t core_memory_gib = 0;

  // "train: dense/MatMul (MatMul) f32 [8,10]"
  std::string Where(absl::string_view what) const {
    return absl::StrCat(ModeName(mode), ": ", what);
  }
};

// The nodes that the TPU's program of the model runs, in creation order: those that the loss, the
// updates, the predictions and the tensors for the host need. After an error of the graph: all.
std::vector<const Node*> ProgramNodes(const CheckedModel& model);

// The memory of one core of a topology such as "v3-8", in GiB. For "rules", and for a topology that
// is not known: that of the largest TPU.
int64_t CoreMemoryGib(absl::string_view topology);

}  // namespace estimator::tpu

#endif  // TPU_RULES_CHECKED_MODEL_H_
