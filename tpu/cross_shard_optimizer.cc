#include "tpu/cross_shard_optimizer.h"

#include <set>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/replica_scope.h"
#include "glog/logging.h"

namespace estimator::tpu {
namespace {

// Errors: INVALID_ARGUMENT unless the groups split [0, num_replicas) evenly.
absl::Status CheckGroups(const GroupAssignment& groups, int num_replicas) {
  std::set<int64_t> seen;
  for (const std::vector<int64_t>& group : groups) {
    if (group.size() != groups[0].size()) {
      return InvalidArgument(
          "CrossShardOptimizer: all groups of group_assignment must have one size");
    }
    for (const int64_t replica : group) {
      if (replica < 0 || replica >= num_replicas || !seen.insert(replica).second) {
        return InvalidArgument("CrossShardOptimizer: group_assignment names replica ", replica,
                               " twice or outside [0, ", num_replicas, ")");
      }
    }
  }
  if (!groups.empty() && static_cast<int>(seen.size()) != num_replicas) {
    return InvalidArgument("CrossShardOptimizer: group_assignment names ", seen.size(), " of ",
                           num_replicas, " replicas");
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
  // In the scope, the wrapped optimizer does not sum the gradients a second time.
  const CrossShardScope scope;
  const int num_replicas = ReplicaScope::Current().num_replicas;
  // One replica needs neither the scale nor the sum.
  if (num_replicas <= 1 || loss.graph() == nullptr)
    return optimizer_->ComputeGradients(loss, variables);
  if (const absl::Status status = CheckGroups(groups_, num_replicas); !status.ok())
    loss.graph()->Fail(status);
  if (optimizer_->SumsOverReplicas()) {
    loss.graph()->Fail(InvalidArgument(
        "CrossShardOptimizer: the optimizer is a CrossShardOptimizer already, and the loss would "
        "be divided by the number of replicas twice; wrap it once"));
  }
  const int64_t group_size =
      groups_.empty() ? num_replicas : static_cast<int64_t>(groups_[0].size());
  return optimizer_->ComputeGradients(ScaleLossForReplicas(loss, reduction_, group_size),
                                      variables);
}

Operation CrossShardOptimizer::ApplyGradients(
    const std::vector<train::GradientAndVariable>& grads_and_vars,
    const train::ApplyOptions& options) {
  const CrossShardScope scope;
  if (ReplicaScope::Current().num_replicas <= 1)
    return optimizer_->ApplyGradients(grads_and_vars, options);
  return optimizer_->ApplyGradients(SumGradientsOverReplicas(grads_and_vars, groups_), options);
}

}  // namespace estimator::tpu
