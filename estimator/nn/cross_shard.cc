#include "estimator/nn/cross_shard.h"

#include <set>
#include <utility>

#include "absl/strings/string_view.h"
#include "estimator/ops/cross_replica.h"
#include "estimator/ops/math_binary.h"

namespace estimator {
namespace {

thread_local bool scope_active = false;

// How a value differs between the shards.
enum class Spread { kDiffers, kSame, kSameBySum };

// Whether a node's value is each shard's own, whatever its inputs are. (That an op is stateful says
// nothing: a variable is the same everywhere, a check passes its input through.)
bool IsSourceOfDifferences(const Node& node) {
  static const auto& ops = *new std::set<absl::string_view>{
      "Placeholder",     "ReplicaId",        "RandomUniform", "RandomStandardNormal",
      "TruncatedNormal", "RandomUniformInt", "RandomShuffle"};
  return ops.count(node.op()) > 0;
}

// Of every node of the graph, by id: inputs have smaller ids than what uses them.
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
      // A gradient is one shard's part even where all parts are equal, and even if sums of the
      // model's, or their gradients, led to it.
      of = Spread::kDiffers;
    } else if (node->op() == "CrossReplicaSum") {
      const bool over_all = node->input(1).shape().num_elements() == 0;
      of = over_all ? Spread::kSameBySum : Spread::kDiffers;
    }
    spread.push_back(of);
  }
  return spread;
}

}  // namespace

CrossShardScope::CrossShardScope() : previous_(std::exchange(scope_active, true)) {}
CrossShardScope::~CrossShardScope() { scope_active = previous_; }
bool CrossShardScope::Active() { return scope_active; }

bool WrapsBareOptimizers(const Graph& graph) {
  return graph.sharding().num_shards > 1 && graph.sharding().wrap_optimizer &&
         !CrossShardScope::Active();
}

Tensor ScaleLossForShards(const Tensor& loss, Reduction reduction, int64_t group_size) {
  if (reduction != Reduction::kMean && reduction != Reduction::kSum) {
    return GraphFor({loss}).Fail(absl::InvalidArgumentError(
        "CrossShardOptimizer: the reduction must be Reduction::kMean or Reduction::kSum"));
  }
  if (!loss.valid() || reduction == Reduction::kSum || group_size <= 1) return loss;
  return Multiply(loss, 1.0 / static_cast<double>(group_size), "loss_of_shard");
}

std::vector<train::GradientAndVariable> SumGradientsOverShards(
    const std::vector<train::GradientAndVariable>& grads_and_vars,
    const std::vector<std::vector<int64_t>>& groups) {
  std::vector<train::GradientAndVariable> summed = grads_and_vars;
  for (train::GradientAndVariable& pair : summed) {
    if (!pair.gradient.valid()) continue;
    pair.gradient.graph()->sharding().wrapped = true;
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
    if (spread[static_cast<size_t>(pair.gradient.node()->id())] != Spread::kSameBySum)
      pair = SumGradientsOverShards({pair})[0];
  }
  return result;
}

}  // namespace estimator
