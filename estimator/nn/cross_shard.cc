#include "estimator/nn/cross_shard.h"

#include <utility>

#include "estimator/ops/cross_replica.h"
#include "estimator/ops/math_binary.h"

namespace estimator {
namespace {

thread_local bool scope_active = false;

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

}  // namespace estimator
