#include "tpu/cross_shard_optimizer.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/replica_scope.h"
#include "glog/logging.h"

namespace estimator::tpu {
namespace {

// Errors: INVALID_ARGUMENT unless the groups split [0, num_shards) evenly.
absl::Status CheckGroups(const GroupAssignment& groups, int num_shards) {
  std::set<int64_t> seen;
  for (const std::vector<int64_t>& group : groups) {
    if (group.size() != groups[0].size()) {
      return absl::InvalidArgumentError(
          "CrossShardOptimizer: all groups of group_assignment must have one size");
    }
    for (const int64_t replica : group) {
      if (replica < 0 || replica >= num_shards || !seen.insert(replica).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("CrossShardOptimizer: group_assignment names replica ", replica,
                         " twice or outside [0, ", num_shards, ")"));
      }
    }
  }
  if (!groups.empty() && static_cast<int>(seen.size()) != num_shards) {
    return absl::InvalidArgumentError(absl::StrCat("CrossShardOptimizer: group_assignment names ",
                                                   seen.size(), " of ", num_shards, " replicas"));
  }
  return absl::OkStatus();
}

}  // namespace

CrossShardOptimizer::CrossShardOptimizer(std::shared_ptr<train::Optimizer> optimizer,
                                         Reduction reduction, GroupAssignment groups)
    : Optimizer(CHECK_NOTNULL(optimizer)->name(), optimizer->learning_rate()),
      optimizer_(std::move(optimizer)),
      reduction_(reduction),
      groups_(std::move(groups)) {}

std::vector<train::GradientAndVariable> CrossShardOptimizer::ComputeGradients(
    const Tensor& loss, const std::vector<Variable>& variables) {
  const CrossShardScope scope;
  const int num_shards = ReplicaScope::Current().num_shards;
  if (num_shards <= 1 || loss.graph() == nullptr)
    return optimizer_->ComputeGradients(loss, variables);
  if (const absl::Status status = CheckGroups(groups_, num_shards); !status.ok())
    loss.graph()->Fail(status);
  if (dynamic_cast<const CrossShardOptimizer*>(optimizer_.get()) != nullptr) {
    loss.graph()->Fail(absl::InvalidArgumentError(
        "CrossShardOptimizer: the optimizer is a CrossShardOptimizer already, and the loss would "
        "be divided by the number of shards twice; wrap it once"));
  }
  const int64_t group_size = groups_.empty() ? num_shards : static_cast<int64_t>(groups_[0].size());
  return optimizer_->ComputeGradients(ScaleLossForShards(loss, reduction_, group_size), variables);
}

Operation CrossShardOptimizer::ApplyGradients(
    const std::vector<train::GradientAndVariable>& grads_and_vars,
    const train::ApplyOptions& options) {
  const CrossShardScope scope;
  if (ReplicaScope::Current().num_shards <= 1)
    return optimizer_->ApplyGradients(grads_and_vars, options);
  return optimizer_->ApplyGradients(SumGradientsOverShards(grads_and_vars, groups_), options);
}

}  // namespace estimator::tpu
