// The two halves of data-parallel training: scale the loss, and sum the gradients over replicas.
// Either tpu::CrossShardOptimizer applies them, because the model asks for it, or a bare optimizer
// does, because the model is built for several replicas (replica_scope.h). They are never applied
// twice.
//
// The split is TensorFlow's:
//   ComputeGradients  divides the loss of each replica by the number of replicas (for the mean).
//   ApplyGradients    sums the gradients over replicas.
// A program that calls Gradients() itself and then ApplyGradients therefore gets the sum, not the
// mean. Source: TF 2.15 tpu_optimizer.CrossShardOptimizer.
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

// A gradient and its variable. An invalid gradient means that none flows: the variable gets no
// update.
struct GradientAndVariable {
  Tensor gradient;
  Variable variable;
};

}  // namespace train

// The graph in which `tensor` is summed over replicas: its own. A branch cannot sum, because the
// replicas need not run the same one. So an optimizer in a branch sums gradients of a loss that was
// computed outside there.
Graph& GraphOfSum(const Tensor& tensor);

// Returns loss / group_size for kMean, and loss for kSum.
// Errors (kept by the graph): INVALID_ARGUMENT for any other reduction.
Tensor ScaleLossForReplicas(const Tensor& loss, Reduction reduction, int64_t group_size);

// Sums every gradient over the replicas of its group.
//   groups: replica numbers of each group. Empty: one group of all replicas.
std::vector<train::GradientAndVariable> SumGradientsOverReplicas(
    const std::vector<train::GradientAndVariable>& grads_and_vars,
    const std::vector<std::vector<int64_t>>& groups = {});

// The same over all replicas, but leaves out gradients that the model_fn has summed itself.
// A gradient counts as summed if it is the output of a CrossReplicaSum over all replicas, or
// computed from such outputs, variables and constants alone (for example clipped after the sum).
// The CrossReplicaSum must come after Gradients(). An output of Gradients() is always summed, even
// if it is equal on all replicas, because its loss was scaled. Examples are a penalty on weights,
// or a variable that the loss reaches only through features that the model_fn has gathered with
// CrossReplicaSum.
std::vector<train::GradientAndVariable> SumGradientsNotYetSummed(
    const std::vector<train::GradientAndVariable>& grads_and_vars);

// Checks that `operations`, run in a step by `num_replicas` replicas, sum gradients over the
// replicas. Without the sum only replica 0 would train: the replicas share their variables, and
// replica 0's updates count. graph.update_ops() are exempt, even if `operations` run them: the
// moving averages of a batch normalization may depend on gradients, for example of images that were
// changed along theirs.
// Errors: INVALID_ARGUMENT if nothing is summed over replicas; INVALID_ARGUMENT naming the
// variables if a variable that is not local is updated from an output of Gradients() that was not
// summed (for example gradients that are accumulated over steps).
absl::Status CheckGradientsAreSummed(const Graph& graph, int num_replicas,
                                     absl::Span<const Operation> operations);

// While a CrossShardScope is alive, optimizers that this thread calls neither scale nor sum: an
// outer optimizer does it. Scopes may be nested.
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

// Whether an optimizer that this thread calls now has to scale and sum by itself: it is outside of
// tpu::CrossShardOptimizer, and the model is built for several replicas.
bool WrapsBareOptimizers();

}  // namespace estimator

#endif  // ESTIMATOR_NN_CROSS_SHARD_H_
