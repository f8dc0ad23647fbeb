// CheckedModel: a model_fn's result as the rules see it.
#ifndef TPU_RULES_CHECKED_MODEL_H_
#define TPU_RULES_CHECKED_MODEL_H_

#include <cstdint>
#include <map>
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

// The nodes that the TPU's program of the model runs: those that the loss, the updates, the
// predictions and the tensors for the host need. After an error of the graph: all.
class ProgramNodes {
 public:
  explicit ProgramNodes(const CheckedModel& model);

  // In creation order. The nodes of the bodies of a loop or a branch come after its node, without
  // the placeholders of parameters and captures.
  const std::vector<const Node*>& all() const { return all_; }
  // "while/dense/MatMul (MatMul) f32 [8,10]": NameOf of report.h, after the names of the nodes
  // around it.
  std::string NameOf(const Node& node) const;
  // Whether the node is in a body of a loop or a branch.
  bool IsInBody(const Node& node) const { return !places_.at(&node).prefix.empty(); }
  // Whether Gradients() built the node, or the loop or branch around it.
  bool IsGradient(const Node& node) const { return places_.at(&node).in_gradient; }
  // What a placeholder of a body stands for: a tensor outside of it, and for a loop variable also
  // the result of a trip. Empty for a placeholder that is fed.
  Tensors Sources(const Node& placeholder) const;
  // Whether the tensor, of the graph or of a body, is computed from the model's input.
  bool DependsOnInput(const Tensor& tensor) const;

 private:
  struct Place {
    std::string prefix;
    bool in_gradient = false;
  };
  // Adds what `pending`, nodes of `graph`, need.
  void Add(const Graph& graph, std::vector<const Node*> pending, const Place& around);
  void AddBodies(const Node& node, const Place& place);

  std::vector<const Node*> all_;
  std::map<const Node*, Place> places_;
  std::map<const Node*, Tensors> sources_;
};

// The memory of one core of a topology such as "v3-8", in GiB. For "rules", and for a topology that
// is not known: that of the largest TPU.
int64_t CoreMemoryGib(absl::string_view topology);

}  // namespace estimator::tpu

#endif  // TPU_RULES_CHECKED_MODEL_H_
