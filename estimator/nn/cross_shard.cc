#include "estimator/nn/cross_shard.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/nn/replica_scope.h"
#include "estimator/ops/cross_replica.h"
#include "estimator/ops/math_binary.h"

namespace estimator {
namespace {

thread_local bool scope_active = false;

// Whether a value differs between the replicas, is the same on all, or is the same because it was
// summed over all.
enum class Spread { kDiffers, kSame, kSameBySum };

// Whether a node's value differs between replicas even if its inputs are the same. Being stateful
// is no criterion: a variable has the same value on all replicas, and a check returns its input.
bool IsSourceOfDifferences(const Node& node) {
  return node.op() == "Placeholder" || node.op() == "ReplicaId" || node.attrs().has("seed");
}

// Returns the spread of every node, indexed by id. One pass is enough because inputs have smaller
// ids than the nodes that use them.
std::vector<Spread> SpreadOfNodes(const Graph& graph) {
  std::vector<Spread> spread;
  for (const auto& node : graph.nodes()) {
    Spread of = Spread::kSame;
    for (const Tensor& input : node->inputs()) {
      const Spread of_input = spread[static_cast<size_t>(input.node()->id())];
      if (of_input == Spread::kDiffers || of == Spread::kDiffers) {
        of = Spread::kDiffers;
      } else if (of_input == Spread::kSameBySum) {
        of = Spread::kSameBySum;
      }
    }
    if (graph.gradient_nodes().count(node.get()) > 0 || IsSourceOfDifferences(*node)) {
      // A gradient is one replica's part of the sum, even if all parts are equal, and even if it
      // was computed from sums in the model or from the gradients of such sums.
      of = Spread::kDiffers;
    } else if (node->op() == "CrossReplicaSum") {
      const bool over_all = node->input(1).shape().num_elements() == 0;
      of = over_all ? Spread::kSameBySum : Spread::kDiffers;
    }
    spread.push_back(of);
  }
  return spread;
}

// For every node, indexed by id: whether its value depends on gradients that were not summed.
std::vector<bool> IsOfUnsummedGradients(const Graph& graph) {
  std::vector<bool> unsummed;
  for (const auto& node : graph.nodes()) {
    bool of = graph.gradient_nodes().count(node.get()) > 0;
    if (!of && node->op() != "CrossReplicaSum") {
      for (const Tensor& input : node->inputs())
        of = of || unsummed[static_cast<size_t>(input.node()->id())];
    }
    unsummed.push_back(of);
  }
  return unsummed;
}

}  // namespace

CrossShardScope::CrossShardScope() : previous_(std::exchange(scope_active, true)) {}
CrossShardScope::~CrossShardScope() { scope_active = previous_; }
bool CrossShardScope::Active() { return scope_active; }

bool WrapsBareOptimizers() {
  return ReplicaScope::Current().num_replicas > 1 && !CrossShardScope::Active();
}

Graph& GraphOfSum(const Tensor& tensor) {
  Graph& graph = GraphFor({tensor});
  return tensor.valid() && graph.IsInside(*tensor.graph()) ? *tensor.graph() : graph;
}

Tensor ScaleLossForReplicas(const Tensor& loss, Reduction reduction, int64_t group_size) {
  if (reduction != Reduction::kMean && reduction != Reduction::kSum) {
    return GraphFor({loss}).Fail(InvalidArgument(
        "CrossShardOptimizer: the reduction must be Reduction::kMean or Reduction::kSum"));
  }
  if (!loss.valid() || reduction == Reduction::kSum || group_size <= 1) return loss;
  const GraphScope scope(GraphOfSum(loss));
  return Multiply(loss, 1.0 / static_cast<double>(group_size), "loss_of_shard");
}

std::vector<train::GradientAndVariable> SumGradientsOverReplicas(
    const std::vector<train::GradientAndVariable>& grads_and_vars,
    const std::vector<std::vector<int64_t>>& groups) {
  std::vector<train::GradientAndVariable> summed = grads_and_vars;
  for (train::GradientAndVariable& pair : summed) {
    if (!pair.gradient.valid()) continue;
    const GraphScope scope(GraphOfSum(pair.gradient));
    pair.gradient = CrossReplicaSum(pair.gradient, groups);
  }
  return summed;
}

std::vector<train::GradientAndVariable> SumGradientsNotYetSummed(
    const std::vector<train::GradientAndVariable>& grads_and_vars) {
  std::vector<train::GradientAndVariable> result = grads_and_vars;
  std::vector<Spread> spread;
  for (train::GradientAndVariable& pair : result) {
    if (!pair.gradient.valid()) continue;
    if (spread.empty()) spread = SpreadOfNodes(*pair.gradient.graph());
    if (spread[static_cast<size_t>(pair.gradient.node()->id())] == Spread::kSameBySum) continue;
    pair = SumGradientsOverReplicas({pair})[0];
    ReplicaScope::NoteSummedBareOptimizer();
  }
  return result;
}

absl::Status CheckGradientsAreSummed(const Graph& graph, int num_replicas,
                                     absl::Span<const Operation> operations) {
  if (num_replicas <= 1) return absl::OkStatus();
  const bool any_sum =
      std::any_of(graph.nodes().begin(), graph.nodes().end(),
                  [](const auto& node) { return node->op() == "CrossReplicaSum"; });
  if (!any_sum) {
    return InvalidArgument("no gradient is summed over the ", num_replicas,
                           " replicas, so each would train its own model; build train_op with an "
                           "optimizer's Minimize or ApplyGradients, "
                           "or with tpu::CrossShardOptimizer");
  }
  // The assignments of batch normalization's moving averages are exempt: see the header.
  const std::vector<bool> unsummed = IsOfUnsummedGradients(graph);
  const std::vector<Node*> exempt = CollectAssigns(graph.update_ops());
  std::vector<std::string> names;
  for (const Node* assign : CollectAssigns(operations)) {
    if (std::find(exempt.begin(), exempt.end(), assign) != exempt.end()) continue;
    if (!unsummed[static_cast<size_t>(assign->input(1).node()->id())]) continue;
    const std::optional<Variable> variable = graph.FindVariable(assign->input(0).node()->name());
    if (variable.has_value() && !variable->local())
      names.push_back(absl::StrCat("'", variable->name(), "'"));
  }
  if (names.empty()) return absl::OkStatus();
  return InvalidArgument(
      "train_op keeps gradients of one replica in ", JoinSome(names, 5),
      ": they are not summed over the ", num_replicas,
      " replicas, which share their variables. Apply CrossReplicaSum to them first; an optimizer "
      "outside of tpu::CrossShardOptimizer does not sum a gradient again");
}

}  // namespace estimator
