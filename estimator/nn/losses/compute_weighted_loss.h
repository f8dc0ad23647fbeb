// The weights and reductions that all losses share, and the graph's collection of losses.
#ifndef ESTIMATOR_NN_LOSSES_COMPUTE_WEIGHTED_LOSS_H_
#define ESTIMATOR_NN_LOSSES_COMPUTE_WEIGHTED_LOSS_H_

#include <optional>
#include <vector>

#include "estimator/base/string_arg.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/tensor.h"
#include "estimator/nn/reduction.h"
#include "estimator/ops/operand.h"

namespace estimator::losses {

// The options of every loss:
//   losses::MeanSquaredError(labels, predictions, {.weights = mask, .reduction = Reduction::kSum})
struct Options {
  // A number, or a tensor that broadcasts to the losses: it has their rank, and each size is 1 or
  // equal to theirs. A last axis of size 1 is dropped or added if that fits. None: 1.
  std::optional<Operand> weights = std::nullopt;
  Reduction reduction = Reduction::kSumByNonzeroWeights;
  bool add_to_collection = true;  // add the loss to graph.losses(), which GetTotalLoss sums
};

// Multiplies `losses` by the weights and reduces them. The result is 0 if the divisor is 0.
//   losses: floating, any shape.  Returns a scalar of its dtype; for kNone, its shape.
// Errors (kept by the graph): INVALID_ARGUMENT naming both shapes if the weights do not broadcast.
// Source: TF 2.15 tf.compat.v1.losses.compute_weighted_loss.
Tensor ComputeWeightedLoss(const Tensor& losses, const Options& options = {});

// Adds a loss that the model computes itself to graph.losses().
void AddLoss(const Tensor& loss);
std::vector<Tensor> GetLosses(Graph& graph = Graph::Current());
// Returns the sum of the regularizers' penalties. Without any it is 0, in f32.
Tensor GetRegularizationLoss(Graph& graph = Graph::Current());
// Returns the sum of graph.losses() and, by default, of the regularizers' penalties.
// Errors (kept by the graph): INVALID_ARGUMENT if there is nothing to sum.
// Source: TF 2.15 tf.compat.v1.losses.get_total_loss.
Tensor GetTotalLoss(bool add_regularization_losses = true, StringArg name = "total_loss",
                    Graph& graph = Graph::Current());

}  // namespace estimator::losses

#endif  // ESTIMATOR_NN_LOSSES_COMPUTE_WEIGHTED_LOSS_H_
