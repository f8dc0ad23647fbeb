// The two halves of data-parallel training. tpu::CrossShardOptimizer applies them where the model
// says so. A bare optimizer applies them by itself where the model is built for several shards
// (replica_scope.h). Never both.
//
// The split is TensorFlow's. ComputeGradients scales the loss (the mean over shards is a scaling of
// each shard's loss); ApplyGradients sums gradients over shards. A program that computes gradients
// with Gradients() and hands them to ApplyGradients therefore gets the sum.
// Source: TF 2.15 tpu_optimizer.CrossShardOptimizer.
#ifndef ESTIMATOR_NN_CROSS_SHARD_H_
#define ESTIMATOR_NN_CROSS_SHARD_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/reduction.h"

namespace estimator {
namespace train {

// One gradient and what it is for. The gradient may be invalid: none flows, no update is made.
struct GradientAndVariable {
  Tensor gradient;
  Variable variable;
};

}  // namespace train

// loss / group_size for kMean, loss for kSum.
// Errors (kept by the graph): INVALID_ARGUMENT for another reduction.
Tensor ScaleLossForShards(const Tensor& loss, Reduction reduction, int64_t group_size);

// Every gradient summed over the shards of its group; groups empty: over all shards.
std::vector<train::GradientAndVariable> SumGradientsOverShards(
    const std::vector<train::GradientAndVariable>& grads_and_vars,
    const std::vector<std::vector<int64_t>>& groups = {});

// The same over all shards, except for gradients that the model_fn has summed itself. A result of
// CrossReplicaSum over all shards is the same everywhere. So is what is computed only from such
// results, variables and constants (a gradient clipped after the sum). Only a sum of what
// Gradients() returned counts: Gradients() of a scaled loss is summed even where it is the same
// everywhere (a penalty on weights, or a variable that is reached only through features that the
// model_fn has gathered with CrossReplicaSum).
std::vector<train::GradientAndVariable> SumGradientsNotYetSummed(
    const std::vector<train::GradientAndVariable>& grads_and_vars);

// Checks that no shard keeps what it learns to itself, where `num_shards` run `operations` in a
// step. The shards share their variables, and shard 0's updates count. graph.update_ops() are
// exempt, also where `operations` run them: averages of a batch normalization may be of gradients
// (images that were moved along their gradients).
// Errors: INVALID_ARGUMENT if nothing is summed over the shards, or if a variable that is not local
// takes its value from an unsummed result of Gradients() (gradients that are added up over steps,
// say), naming the variables.
absl::Status CheckGradientsAreSummed(const Graph& graph, int num_shards,
                                     absl::Span<const Operation> operations);

// While it lives, optimizers that this thread calls neither scale nor sum, because an outer
// optimizer has done it.
class CrossShardScope {
 public:
  CrossShardScope();
  ~CrossShardScope();
  CrossShardScope(const CrossShardScope&) = delete;
  CrossShardScope& operator=(const CrossShardScope&) = delete;
  static bool Active();

 private:
  const bool previous_;
};

// Whether a bare optimizer that is called now has to scale and sum by itself.
bool WrapsBareOptimizers();

}  // namespace estimator

#endif  // ESTIMATOR_NN_CROSS_SHARD_H_
