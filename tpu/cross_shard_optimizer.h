// CrossShardOptimizer: sums another optimizer's gradients over the replicas.
//
//   tpu::CrossShardOptimizer(train::Momentum(0.1, 0.9)).Minimize(loss)
//
// A program that chooses its optimizer holds it in a pointer:
//
//   std::shared_ptr<train::Optimizer> optimizer = std::make_shared<train::Momentum>(0.1, 0.9);
//   if (params.use_tpu) optimizer = tpu::CrossShardOptimizer(optimizer);
//
// ComputeGradients scales the loss by 1/replicas for Reduction::kMean, ApplyGradients sums: see
// estimator/nn/cross_shard.h. With one replica (use_tpu = false) it does what the wrapped optimizer
// does. On several replicas, an optimizer that model_fn does not wrap does the same by itself.
// The two together sum once. A CrossReplicaSum of the model_fn's own is not seen: ApplyGradients
// sums its result again, as TensorFlow's does. An optimizer that is not wrapped leaves out
// gradients that the model_fn has summed after Gradients().
#ifndef TPU_CROSS_SHARD_OPTIMIZER_H_
#define TPU_CROSS_SHARD_OPTIMIZER_H_

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "estimator/nn/cross_shard.h"
#include "estimator/nn/reduction.h"
#include "estimator/nn/train/optimizer.h"

namespace estimator::tpu {

// Gradients are summed within each group of replicas; empty: over all replicas. The groups have
// one size, and each replica of [0, num_replicas) is in exactly one.
using GroupAssignment = std::vector<std::vector<int64_t>>;

// Source: TF 2.15 tf.compat.v1.tpu.CrossShardOptimizer.
class CrossShardOptimizer : public train::Optimizer {
 public:
  template <typename Wrapped,
            typename = std::enable_if_t<std::is_base_of_v<train::Optimizer, Wrapped> &&
                                        !std::is_same_v<Wrapped, CrossShardOptimizer>>>
  explicit CrossShardOptimizer(Wrapped optimizer, Reduction reduction = Reduction::kMean,
                               GroupAssignment groups = {})
      : CrossShardOptimizer(std::make_shared<Wrapped>(std::move(optimizer)), reduction,
                            std::move(groups)) {}
  // REQUIRES: optimizer is not null.
  explicit CrossShardOptimizer(std::shared_ptr<train::Optimizer> optimizer,
                               Reduction reduction = Reduction::kMean, GroupAssignment groups = {});

  operator std::shared_ptr<train::Optimizer>() const {  // NOLINT: `optimizer =` above
    return std::make_shared<CrossShardOptimizer>(*this);
  }

  // Errors (kept by the graph): those of the wrapped optimizer; INVALID_ARGUMENT for another
  // reduction than kMean and kSum, for groups that are not as above, and for a wrapped
  // CrossShardOptimizer.
  std::vector<train::GradientAndVariable> ComputeGradients(
      const Tensor& loss, const std::vector<Variable>& variables = {}) override;
  Operation ApplyGradients(const std::vector<train::GradientAndVariable>& grads_and_vars,
                           const train::ApplyOptions& options = {}) override;
  bool SumsOverReplicas() const override { return true; }

 protected:
  // Never called: ApplyGradients calls the wrapped optimizer.
  std::vector<Operation> ApplyDense(const Tensor&, const Variable&) override { return {}; }

 private:
  std::shared_ptr<train::Optimizer> optimizer_;
  Reduction reduction_;
  GroupAssignment groups_;
};

}  // namespace estimator::tpu

#endif  // TPU_CROSS_SHARD_OPTIMIZER_H_
